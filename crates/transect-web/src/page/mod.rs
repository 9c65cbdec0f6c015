//! Builds a page as one file from untrusted names.
//!
//! Names are data and never markup: escaped between tags, without `<` and `&` in JSON, and set as
//! text by the scripts. As a last defence, the page's policy runs only scripts and styles with its
//! own nonce, and loads nothing.

mod nonce;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use transect_text::quote::is_hostile;

pub use nonce::Nonce;

const TEMPLATE: &str = include_str!("page.html");

/// Functions that create elements; they insert data only as text.
pub const ELEMENTS: &str = include_str!("elements.js");

/// The parts of a page.
#[derive(Debug)]
pub struct Page<'p> {
    /// The program that creates it.
    pub generator: &'p str,
    /// The title; any text.
    pub title: &'p str,
    /// The heading of the fallback; any text.
    pub heading: &'p str,
    /// The content shown without scripts, as markup.
    pub fallback: &'p str,
    /// The style sheet.
    pub style: &'p str,
    /// The data of the scripts, by element id.
    pub data: &'p [(&'static str, Data<'p>)],
    /// The scripts.
    pub script: &'p str,
    /// Allows the scripts to connect to the server of the page.
    pub connects: bool,
}

/// Data of the scripts.
#[derive(Clone, Copy, Debug)]
pub enum Data<'p> {
    /// JSON text.
    Json(&'p str),
    /// Other bytes, stored as base64.
    Bytes(&'p [u8]),
}

impl Page<'_> {
    /// Returns the page. The same parts and the same nonce give the same page.
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

/// Returns a data element. Its content cannot end the element.
fn element(id: &str, data: Data<'_>) -> String {
    let (kind, text) = match data {
        Data::Json(json) => ("application/json", escape_json(json)),
        Data::Bytes(bytes) => ("text/plain", STANDARD.encode(bytes)),
    };
    format!("<script type=\"{kind}\" id=\"{id}\">{text}</script>\n")
}

/// Replaces each `{{placeholder}}` of a template. Inserted text is not searched for placeholders.
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

/// Returns JSON that can neither end its element nor start another one. The escaped characters
/// occur only in strings.
fn escape_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            // Older engines treat these as line ends.
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            other => text.push(other),
        }
    }
    text
}

/// Returns HTML text, valid between tags and in quoted attributes. Control characters and direction
/// marks become visible escapes.
pub fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            hostile if is_hostile(hostile) => escaped.extend(hostile.escape_unicode()),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_parts_never_become_markup() {
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
    fn template_inserted_text_not_filled_again() {
        let filled = fill_template(
            "a{{b}}c{{d}}",
            |placeholder| if placeholder == "b" { "{{d}}" } else { "e" },
        );
        assert_eq!(filled, "a{{d}}ce");
    }

    #[test]
    fn escapes_never_end_an_element() {
        let json = escape_json("\"</script><!-- & \u{2028}\"");
        assert_eq!(json, r#""\u003c/script\u003e\u003c!-- \u0026 \u2028""#);
        assert_eq!(
            escape_html("<a b='\"'>&\n\u{202e}"),
            "&lt;a b=&#39;&quot;&#39;&gt;&amp;\\u{a}\\u{202e}"
        );
    }

    #[test]
    fn page_same_parts_differ_by_nonce() {
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
