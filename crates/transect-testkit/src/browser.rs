//! A real browser, to test pages as users see them: Chromium, controlled by `chromedriver` over
//! WebDriver, which is JSON over HTTP. A socket of the standard library is enough for that.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::TempDir;
use crate::watchdog::{WATCHDOG, wait_for_ok, wait_until};

/// One browser at a time: it needs more memory than all other tests.
static RUNNING: Mutex<()> = Mutex::new(());

/// A browser without a window and with its own profile, closed when dropped.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    // Dropped after the driver: removed once no process writes to it.
    profile: TempDir,
    _one: MutexGuard<'static, ()>,
}

impl Browser {
    /// Starts a browser with a window of `width` × `height` pixels. Waits until no other one runs.
    ///
    /// # Errors
    /// Chromium or its driver is not installed.
    ///
    /// # Panics
    /// If they are installed and do not start.
    pub fn start(width: u32, height: u32) -> Result<Self, String> {
        let one = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        for program in ["chromium", "chromedriver"] {
            if !is_installed(program) {
                return Err(format!("there is no {program}"));
            }
        }
        let profile = TempDir::new();
        // The driver chooses a free port, and prints it once it listens.
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .env("TMPDIR", profile.path())
            .env("HOME", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // The browser is in the same group and ends with it.
            .process_group(0)
            .spawn()
            .expect("chromedriver is installed");
        let port = announced_port(driver.stdout.take().expect("a pipe"));
        let mut browser = Self { driver, port, session: String::new(), profile, _one: one };
        let data = browser.profile.join("profile");
        let args = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            format!("--user-data-dir={}", data.display()),
        ];
        let patience = WATCHDOG.as_millis() as u64;
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "timeouts": {"script": patience, "pageLoad": patience},
            "goog:chromeOptions": {"args": args, "browserStartupTimeout": patience},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let started = browser.request("POST", "/session", &wanted).unwrap_or_else(|error| {
            panic!("chromium does not start: {error}");
        });
        started["sessionId"].as_str().expect("a session").clone_into(&mut browser.session);
        browser.resize(width, height);
        Ok(browser)
    }

    /// Resizes the window to `width` × `height` pixels, also below the minimum of desktop windows.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Requests the light or the dark variant of pages, as a system would.
    pub fn prefer_dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        self.devtools("Emulation.setEmulatedMedia", &features);
    }

    /// Disconnects the network: later requests fail, and are logged.
    pub fn go_offline(&self) {
        self.devtools("Network.enable", &json!({}));
        let nothing =
            json!({"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0});
        self.devtools("Network.emulateNetworkConditions", &nothing);
    }

    /// Opens a file, and waits until it is loaded.
    pub fn open(&self, file: &Path) {
        self.visit(&address(file));
    }

    /// Opens an address, and waits until it is loaded.
    pub fn visit(&self, address: &str) {
        self.command("POST", "/url", &json!({"url": address}));
    }

    /// Runs the body of a function in the page, and returns its value.
    pub fn run(&self, script: &str) -> Value {
        self.command("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until the body of a function in the page returns the expected value.
    ///
    /// # Panics
    /// If the function never returns it.
    #[track_caller]
    pub fn wait_for(&self, script: &str, expected: &Value) {
        wait_for_ok(&expected.to_string(), || match self.run(script) {
            answer if answer == *expected => Ok(()),
            answer => Err(answer),
        });
    }

    /// Waits until everything that the page has requested to draw is drawn: two frames.
    #[track_caller]
    pub fn wait_until_drawn(&self) {
        self.run(
            "window.drawn_ = false;
            requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn_ = true }))",
        );
        self.wait_for("return window.drawn_", &json!(true));
    }

    /// Clicks the first element that matches a selector, as a user would: it must be visible.
    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("/element/{element}/click"), &json!({}));
    }

    /// Types into the first element that matches a selector.
    pub fn type_into(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("/element/{element}/value"), &json!({"text": text}));
    }

    fn element(&self, selector: &str) -> String {
        let by = json!({"using": "css selector", "value": selector});
        let found = self.command("POST", "/element", &by);
        let id = found.as_object().and_then(|of| of.values().next()).and_then(Value::as_str);
        id.expect("an element has an id").to_owned()
    }

    /// Returns the messages on the console since the last call, from the page or from the browser.
    pub fn console(&self) -> Vec<String> {
        let log = self.command("POST", "/se/log", &json!({"type": "browser"}));
        let text = |entry: &Value| format!("{}: {}", entry["level"], entry["message"]);
        log.as_array().expect("a list").iter().map(text).collect()
    }

    /// Returns the addresses requested since the last call.
    pub fn requests(&self) -> Vec<String> {
        let log = self.command("POST", "/se/log", &json!({"type": "performance"}));
        let event = |entry: &Value| -> Option<String> {
            let event: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let event = &event["message"];
            let is_request = event["method"] == "Network.requestWillBeSent";
            is_request.then(|| event["params"]["request"]["url"].as_str().map(str::to_owned))?
        };
        log.as_array().expect("a list").iter().filter_map(event).collect()
    }

    fn devtools(&self, command: &str, parameters: &Value) {
        let body = json!({"cmd": command, "params": parameters});
        self.command("POST", "/goog/cdp/execute", &body);
    }

    /// Sends a command that must succeed.
    #[track_caller]
    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        let path = format!("/session/{}{path}", self.session);
        self.request(method, &path, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends a request, and returns the value of the answer.
    fn request(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let answer = exchange(self.port, method, path, body).map_err(as_text)?;
        let value: Value = serde_json::from_slice(&answer).map_err(as_text)?;
        match &value["value"]["error"] {
            Value::String(error) => Err(format!("{error}: {}", value["value"]["message"])),
            _ => Ok(value["value"].clone()),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            // If this fails, the group is killed below.
            let _ = self.request("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let group = rustix::process::Pid::from_child(&self.driver);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.driver.wait();
        wait_until_quiet(self.profile.path());
    }
}

/// Waits until no process of the browser writes to its profile: a directory that is being written
/// to cannot be removed.
fn wait_until_quiet(profile: &Path) {
    let name = profile.as_os_str().as_encoded_bytes();
    let is_of_it = |process: &std::path::PathBuf| {
        let command = std::fs::read(process.join("cmdline")).unwrap_or_default();
        command.windows(name.len()).any(|window| window == name)
    };
    wait_until("the end of the browser", || {
        #[expect(clippy::disallowed_methods, reason = "processes are no tree to be read")]
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        !processes.map(|entry| entry.path()).any(|process| is_of_it(&process))
    });
}

fn as_text(error: impl Display) -> String {
    error.to_string()
}

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns the port that chromedriver prints: the last word of one of its lines.
fn announced_port(stdout: ChildStdout) -> u16 {
    let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
    let port = lines.find_map(|line| {
        let (_, port) = line.split_once("started successfully on port ")?;
        port.trim_end_matches('.').parse().ok()
    });
    // The rest of its output is read, so that it never blocks.
    std::thread::spawn(move || lines.for_each(drop));
    port.expect("chromedriver prints its port")
}

/// Returns the address of a file. All bytes but plain letters, digits and `/.-_` are escaped.
fn address(file: &Path) -> String {
    let mut address = "file://".to_owned();
    for byte in file.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

/// Sends an HTTP request, and returns the body of the response.
fn exchange(port: u16, method: &str, path: &str, body: &Value) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(WATCHDOG))?;
    stream.set_write_timeout(Some(WATCHDOG))?;
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut reader = BufReader::new(stream);
    let lines = reader.by_ref().lines().map_while(Result::ok);
    let mut head = lines.take_while(|line| !line.is_empty());
    let length = head.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let value = Some(value).filter(|_| name.eq_ignore_ascii_case("content-length"))?;
        value.trim().parse::<usize>().ok()
    });
    head.for_each(drop);
    let mut answer = vec![0; length.ok_or_else(|| std::io::Error::other("no content-length"))?];
    reader.read_exact(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loudly_skip;

    #[test]
    fn browser_scripts_clicks_and_logs() {
        let browser = match Browser::start(800, 600) {
            Ok(browser) => browser,
            Err(reason) => return loudly_skip("browser_scripts_clicks_and_logs", reason),
        };
        let temp = TempDir::new();
        let page = temp.join("a page #1 & more.html");
        let text = "<title>é</title><button onclick=\"console.error('pressed')\">b</button><input>";
        std::fs::write(&page, format!("<meta charset=utf-8>{text}")).unwrap();
        browser.open(&page);
        assert_eq!(browser.run("return [document.title, innerWidth]"), json!(["é", 800]));
        assert_eq!(browser.console(), Vec::<String>::new());
        browser.click("button");
        let console = browser.console();
        assert!(console.len() == 1 && console[0].contains("pressed"), "{console:?}");
        browser.type_into("input", "typed");
        assert_eq!(browser.run("return document.querySelector('input').value"), "typed");
        browser.resize(390, 844);
        browser.prefer_dark(true);
        let dark = "return [innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]";
        assert_eq!(browser.run(dark), json!([390, true]));
        let profile = browser.profile.path().to_owned();
        drop(browser);
        assert!(!profile.exists());
    }

    #[test]
    fn address_any_path_encoded() {
        assert_eq!(address(Path::new("/a b/c#d.html")), "file:///a%20b/c%23d.html");
        assert_eq!(address(Path::new("/é?")), "file:///%C3%A9%3F");
    }
}
