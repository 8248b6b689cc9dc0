//! JSON as the protocol needs it: a value, its parser and its writer. Numbers keep their own text,
//! so that a call's id comes back exactly as it came; objects keep their order.

/// Deeper nesting is refused, so that no message can overflow the stack.
const MAX_DEPTH: usize = 256;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// An object from its members: `object([("x", 1.into()), ("y", 2.into())])`.
pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::Text(text.to_string())
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Json::Number(number.to_string())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}

impl Json {
    /// The member at a dotted path. A name that is given twice counts the last time.
    pub fn at(&self, path: &str) -> Option<&Json> {
        path.split('.').try_fold(self, |value, name| match value {
            Json::Object(members) => members.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v),
            _ => None,
        })
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        match self {
            Json::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Adds a member to an object.
    pub fn set(&mut self, name: &str, value: impl Into<Json>) {
        if let Json::Object(members) = self {
            members.push((name.to_string(), value.into()));
        }
    }

    pub fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(text) => out.push_str(text),
            Json::Text(text) => write_text(text, out),
            Json::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_text(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    pub fn parse(source: &str) -> Result<Json, String> {
        let mut parser = Parser { source, at: 0 };
        let value = parser.value(0)?;
        parser.skip_blanks();
        match parser.peek() {
            None => Ok(value),
            Some(_) => parser.fail("something follows the value"),
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
}

struct Parser<'a> {
    source: &'a str,
    /// A byte offset, always at the start of a character.
    at: usize,
}

impl Parser<'_> {
    fn fail<T>(&self, problem: &str) -> Result<T, String> {
        Err(format!("{problem}, at byte {}", self.at))
    }

    fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return self.fail("the nesting is too deep");
        }
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Json::Text(self.text()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                for (word, value) in
                    [("null", Json::Null), ("true", true.into()), ("false", false.into())]
                {
                    if self.source[self.at..].starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                self.fail("no value")
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, String> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_blanks();
        if self.eat(b']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_blanks();
            if self.eat(b']') {
                return Ok(Json::List(items));
            }
            if !self.eat(b',') {
                return self.fail("no comma or end of a list");
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        let mut members = Vec::new();
        self.at += 1;
        self.skip_blanks();
        if self.eat(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_blanks();
            let name = self.text()?;
            self.skip_blanks();
            if !self.eat(b':') {
                return self.fail("no colon after a name");
            }
            members.push((name, self.value(depth + 1)?));
            self.skip_blanks();
            if self.eat(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.eat(b',') {
                return self.fail("no comma or end of an object");
            }
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        self.eat(b'-');
        let leads_with_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        let mut valid = whole > 0 && !(leads_with_zero && whole > 1);
        if self.eat(b'.') {
            valid &= self.digits() > 0;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            let _ = self.eat(b'+') || self.eat(b'-');
            valid &= self.digits() > 0;
        }
        if !valid {
            return self.fail("no number");
        }
        Ok(Json::Number(self.source[start..self.at].to_string()))
    }

    fn text(&mut self) -> Result<String, String> {
        if !self.eat(b'"') {
            return self.fail("no text in quotes");
        }
        let mut text = String::new();
        loop {
            let rest = &self.source[self.at..];
            let Some(character) = rest.chars().next() else {
                return self.fail("a text without end");
            };
            self.at += character.len_utf8();
            match character {
                '"' => return Ok(text),
                '\\' => text.push(self.escape()?),
                control if control < ' ' => return self.fail("a control character in a text"),
                other => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let Some(letter) = self.peek() else {
            return self.fail("a text without end");
        };
        self.at += usize::from(letter.is_ascii());
        Ok(match letter {
            b'"' | b'\\' | b'/' => letter as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.code_unit()?;
                let pair_follows = self.source[self.at..].starts_with("\\u");
                if (0xd800..0xdc00).contains(&high) && pair_follows {
                    let before = self.at;
                    self.at += 2;
                    let low = self.code_unit()?;
                    if (0xdc00..0xe000).contains(&low) {
                        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                        return Ok(char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                    self.at = before;
                }
                // Half of a surrogate pair is no character.
                char::from_u32(high).unwrap_or('\u{fffd}')
            }
            _ => return self.fail("an unknown escape"),
        })
    }

    fn code_unit(&mut self) -> Result<u32, String> {
        let digits = self.source.get(self.at..self.at + 4).unwrap_or("");
        if digits.len() != 4 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return self.fail("no four hexadecimal digits");
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|error| error.to_string())
    }
}
