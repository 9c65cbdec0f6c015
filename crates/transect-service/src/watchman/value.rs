//! A value of Watchman's protocol, and its text as JSON.

use serde_json::Value as Json;

/// A value of JSON whose strings may be any bytes, as names of files are.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Real(f64),
    /// A string.
    Bytes(Vec<u8>),
    /// An array.
    Array(Vec<Value>),
    /// An object, in the order of its keys.
    Object(Vec<(Vec<u8>, Value)>),
}

impl Value {
    /// Returns an object with these keys.
    pub fn object<const N: usize>(pairs: [(&str, Value); N]) -> Self {
        Self::Object(pairs.map(|(key, value)| (key.into(), value)).into())
    }

    /// Adds a key to an object.
    pub fn push(&mut self, key: &str, value: impl Into<Value>) {
        if let Self::Object(pairs) = self {
            pairs.push((key.into(), value.into()));
        }
    }

    /// Returns the value of a key of an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let Self::Object(pairs) = self else { return None };
        pairs.iter().find(|(name, _)| name == key.as_bytes()).map(|(_, value)| value)
    }

    /// Returns the bytes of a string.
    pub fn bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// Returns a string that is UTF-8.
    pub fn str(&self) -> Option<&str> {
        self.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Returns the elements of an array.
    pub fn array(&self) -> Option<&[Value]> {
        if let Self::Array(values) = self { Some(values) } else { None }
    }

    /// Returns a whole number.
    pub fn int(&self) -> Option<i64> {
        if let Self::Int(number) = self { Some(*number) } else { None }
    }

    /// Returns whether it is `true`.
    pub fn is_true(&self) -> bool {
        *self == Self::Bool(true)
    }

    /// Appends JSON. Bytes that are not UTF-8 stay as they are, as those of Watchman do.
    pub fn append_json(&self, out: &mut Vec<u8>) {
        let separate = |out: &mut Vec<u8>, place| {
            if place > 0 {
                out.push(b',');
            }
        };
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Self::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Self::Real(value) => out.extend_from_slice(Json::from(*value).to_string().as_bytes()),
            Self::Bytes(bytes) => append_string(bytes, out),
            Self::Array(values) => {
                out.push(b'[');
                for (place, value) in values.iter().enumerate() {
                    separate(out, place);
                    value.append_json(out);
                }
                out.push(b']');
            }
            Self::Object(pairs) => {
                out.push(b'{');
                for (place, (key, value)) in pairs.iter().enumerate() {
                    separate(out, place);
                    append_string(key, out);
                    out.push(b':');
                    value.append_json(out);
                }
                out.push(b'}');
            }
        }
    }

    /// Parses JSON.
    ///
    /// # Errors
    /// It is malformed, or nested too deeply.
    pub fn from_json(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text).map(of_json)
    }
}

fn append_string(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

fn of_json(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Real(number.as_f64().unwrap_or(f64::INFINITY)),
        },
        Json::String(text) => Value::Bytes(text.into()),
        Json::Array(values) => Value::Array(values.into_iter().map(of_json).collect()),
        Json::Object(pairs) => {
            let pairs = pairs.into_iter().map(|(key, value)| (key.into(), of_json(value)));
            Value::Object(pairs.collect())
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Bytes(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Bytes(text.into())
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Self {
        Self::Array(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_read_and_written() {
        let text = r#"["query",{"a\"\\\n\u0001":[null,true,-5,1.5,"ä"],"b":{}}]"#;
        let value = Value::from_json(text.as_bytes()).unwrap();
        let mut out = Vec::new();
        value.append_json(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), text);
        assert!(Value::from_json(b"[1,").is_err());
        assert!(Value::from_json("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn json_name_that_is_not_utf8_kept() {
        let mut out = Vec::new();
        Value::from(&b"a\xff"[..]).append_json(&mut out);
        assert_eq!(out, b"\"a\xff\"");
    }
}
