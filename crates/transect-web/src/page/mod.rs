//! What makes a page one file that trusts nobody.
//!
//! Names are anybody's. They are data and never markup: escaped where they stand between tags, without
//! `<` and `&` in JSON, and written as text by the scripts. Should all that fail, a page's policy runs
//! no script and takes no style but those that carry its own nonce, a random number, and loads nothing.

mod nonce;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

pub use nonce::Nonce;

const TEMPLATE: &str = include_str!("page.html");

/// How scripts make elements: what comes from outside goes into them as text.
pub const ELEMENTS: &str = include_str!("elements.js");

/// A page, as the parts it is put together from.
#[derive(Debug)]
pub struct Page<'p> {
    /// Which program makes it.
    pub generator: &'p str,
    /// What it is called; any text.
    pub title: &'p str,
    /// What stands above its plain part; any text.
    pub heading: &'p str,
    /// What is shown without scripts, as markup.
    pub fallback: &'p str,
    /// How it looks.
    pub style: &'p str,
    /// What its scripts read, by the ids of the elements that hold it.
    pub data: &'p [(&'static str, Data<'p>)],
    /// What it does.
    pub script: &'p str,
    /// Its scripts may ask whoever serves it.
    pub connects: bool,
}

/// What lies in a page for its scripts.
#[derive(Clone, Copy, Debug)]
pub enum Data<'p> {
    /// JSON, as it was written.
    Json(&'p str),
    /// Anything else; the page holds it as base64.
    Bytes(&'p [u8]),
}

impl Page<'_> {
    /// Returns the page: the same for the same parts and the same nonce.
    pub fn html(&self, nonce: &Nonce) -> String {
        let data = self.data.iter().map(|&(id, data)| element(id, data)).collect::<String>();
        let script = format!("(async () => {{\n'use strict';\n{}}})();\n", self.script);
        let (title, heading) = (escape_html(self.title), escape_html(self.heading));
        let nonce = nonce.to_string();
        fill_template(TEMPLATE, |placeholder| match placeholder {
            "nonce" => &nonce,
            "connect" if self.connects => "; connect-src 'self'",
            "connect" => "",
            "generator" => self.generator,
            "title" => &title,
            "style" => self.style,
            "heading" => &heading,
            "fallback" => self.fallback,
            "data" => &data,
            "script" => &script,
            _ => unreachable!("BUG: the template has no placeholder '{placeholder}'"),
        })
    }
}

/// Returns the element that holds data; there is nothing in it that could end it.
fn element(id: &str, data: Data<'_>) -> String {
    let (kind, text) = match data {
        Data::Json(json) => ("application/json", escape_json(json)),
        Data::Bytes(bytes) => ("text/plain", STANDARD.encode(bytes)),
    };
    format!("<script type=\"{kind}\" id=\"{id}\">{text}</script>\n")
}

/// Fills each `{{placeholder}}` of a template; what is filled in is not looked at again.
///
/// # Panics
/// If a placeholder of the template does not end.
fn fill_template<'t>(template: &'t str, text: impl Fn(&'t str) -> &'t str) -> String {
    let mut parts = template.split("{{");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (placeholder, rest) =
            part.split_once("}}").expect("BUG: every placeholder of the template ends");
        filled.push_str(text(placeholder));
        filled.push_str(rest);
    }
    filled
}

/// Returns JSON that cannot end the element it stands in, nor begin another: these characters occur
/// in strings only, where they may be written as escapes.
fn escape_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            // Line ends in a script, as it was before they were allowed in strings.
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            other => text.push(other),
        }
    }
    text
}

/// Returns a text that is text wherever it stands in a page, between tags or in a quoted attribute,
/// and hides nothing: what ends lines or turns the direction of writing is spelt out.
pub fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                escaped.extend(character.escape_unicode());
            }
            control if control.is_control() => escaped.extend(control.escape_unicode()),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_they_are_and_nothing_else() {
        let evil = "</script><img>{{script}}";
        let json = format!("\"{evil}\"");
        let data = [("one", Data::Json(&json)), ("other", Data::Bytes(evil.as_bytes()))];
        let page = Page {
            generator: "transect",
            title: evil,
            heading: evil,
            fallback: "<p>plain</p>\n",
            style: "p { margin: 0 }\n",
            data: &data,
            script: "run();\n",
            connects: false,
        };
        let html = page.html(&Nonce::predictable(1));
        assert!(!html.contains("<img>") && !html.contains("connect-src"));
        assert_eq!(html.matches("<script").count(), 3, "two of data, and the script: {html}");
        assert_eq!(html.matches("</script>").count(), 3, "{html}");
        assert_eq!(html.matches("run();").count(), 1, "{html}");
        assert!(html.contains("<h1>&lt;/script&gt;&lt;img&gt;{{script}}</h1>\n<p>plain</p>"));
        let asking = Page { connects: true, ..page }.html(&Nonce::predictable(1));
        assert!(asking.contains("; connect-src 'self'; base-uri 'none'"), "{asking}");
    }

    #[test]
    fn a_place_is_filled_once() {
        let filled = fill_template(
            "a{{b}}c{{d}}",
            |placeholder| if placeholder == "b" { "{{d}}" } else { "e" },
        );
        assert_eq!(filled, "a{{d}}ce");
    }

    #[test]
    fn nothing_ends_the_element_it_stands_in() {
        let json = escape_json("\"</script><!-- & \u{2028}\"");
        assert_eq!(json, r#""\u003c/script\u003e\u003c!-- \u0026 \u2028""#);
        assert_eq!(
            escape_html("<a b='\"'>&\n\u{202e}"),
            "&lt;a b=&#39;&quot;&#39;&gt;&amp;\\u{a}\\u{202e}"
        );
    }

    #[test]
    fn page_random_nonces_differ_for_the_same_parts() {
        let page = || {
            let page = Page {
                generator: "transect",
                title: "title",
                heading: "heading",
                fallback: "",
                style: "",
                data: &[],
                script: "",
                connects: false,
            };
            page.html(&Nonce::random().unwrap())
        };
        let nonce = |page: &str| {
            let rest = page.split_once("script-src 'nonce-").expect("a policy").1.to_owned();
            rest.split_once('\'').expect("an end").0.to_owned()
        };
        let (one, other) = (page(), page());
        assert_ne!(nonce(&one), nonce(&other));
        assert_eq!(one.replace(&nonce(&one), ""), other.replace(&nonce(&other), ""));
        assert!(one.contains(&format!("<script nonce=\"{}\">", nonce(&one))), "{one}");
    }
}
