//! What a screen is made of: things, the ids and boxes that they have at the moment, and the node
//! that the wire has for each.
use crate::json::{object, Json};

/// What becomes of a thing that is touched or filled in.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Use {
    #[default]
    None,
    Turn(i64),
    Heating,
    Go(&'static str),
    Back,
    Room,
    Pin,
    Count(i64),
    Replace,
}

/// Something on the screen. `key` is its identity there, and its test id.
#[derive(Default)]
pub struct Thing {
    pub key: &'static str,
    pub role: &'static str,
    pub name: String,
    pub text: Option<String>,
    pub value: Option<String>,
    pub level: Option<i64>,
    pub checked: Option<bool>,
    pub is_secret: bool,
    pub children: Vec<Thing>,
    pub on: Use,
}

/// A thing with the id and the box that it has now.
pub struct Shown {
    pub id: String,
    pub rect: [i64; 4],
    pub name: String,
    pub on: Use,
}

pub fn heading(key: &'static str, name: &str) -> Thing {
    Thing { key, role: "heading", name: name.into(), level: Some(1), ..Thing::default() }
}

pub fn button(key: &'static str, name: &str, on: Use) -> Thing {
    Thing { key, role: "button", name: name.into(), on, ..Thing::default() }
}

pub fn named(key: &'static str, role: &'static str, name: &str) -> Thing {
    Thing { key, role, name: name.into(), ..Thing::default() }
}

pub fn says(key: &'static str, role: &'static str, text: &str) -> Thing {
    Thing { key, role, text: Some(text.into()), ..Thing::default() }
}

impl Shown {
    pub fn covers(&self, x: f64, y: f64) -> bool {
        let [left, top, width, height] = self.rect.map(|side| side as f64);
        (left..left + width).contains(&x) && (top..top + height).contains(&y)
    }
}

/// A node as it crosses the wire: what is absent is left out, and a secret has no value.
pub fn describe(
    thing: &Thing,
    id: &str,
    [x, y, width, height]: [i64; 4],
    children: Vec<Json>,
) -> Json {
    let rect = object([
        ("x", x.into()),
        ("y", y.into()),
        ("width", width.into()),
        ("height", height.into()),
    ]);
    let mut node = object([
        ("ref", object([("id", id.into()), ("revision", "".into())])),
        ("role", thing.role.into()),
        ("testId", thing.key.into()),
        ("rect", rect),
    ]);
    if !thing.name.is_empty() {
        node.set("name", cut(&thing.name, 256));
    }
    for (member, content) in [("text", &thing.text), ("value", &thing.value)] {
        if let Some(content) = content {
            node.set(member, cut(content, 512));
        }
    }
    if let Some(level) = thing.level {
        node.set("level", level);
    }
    if let Some(checked) = thing.checked {
        node.set("states", object([("checked", checked.into())]));
    }
    if thing.is_secret {
        node.set("inputPurpose", "password");
        node.set("states", object([("secure", true.into())]));
    }
    if !children.is_empty() {
        node.set("children", Json::List(children));
    }
    node
}

fn cut(content: &str, limit: usize) -> Json {
    Json::Text(content.chars().take(limit).collect())
}
