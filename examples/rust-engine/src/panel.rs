//! A room panel, as an example of an engine: a heating control with a few buttons, a switch and a
//! field, and the probe scene of `enginewright check`. Nothing here knows the protocol beyond the
//! shapes of a node and of an action.
use crate::json::{object, Json};
use crate::screen::{button, describe, heading, named, says, Shown, Thing, Use};
use crate::server::{number, text, Client, Engine, Step};
use crate::wire::Failure;
use std::collections::HashMap;
use std::time::Duration;

const WIDTH: i64 = 480;
const HEIGHT: i64 = 800;
const ROW: i64 = 36;
const GAP: i64 = 10;
const ACTIONS: [&str; 5] = ["tap", "fill", "clear", "check", "uncheck"];

struct Settings {
    room: String,
    target: i64,
    is_heating: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { room: "Living room".into(), target: 21, is_heating: true }
    }
}

#[derive(Default)]
pub struct Panel {
    settings: Settings,
    path: &'static str,
    history: Vec<&'static str>,
    /// The ids of the present visit by key; a key that went away never gets its id back.
    ids: HashMap<&'static str, String>,
    minted: u64,
    taps: i64,
    is_replaced: bool,
    pin: String,
}

impl Panel {
    /// The things on the present screen.
    fn screen(&self) -> Vec<Thing> {
        let Settings { room, target, is_heating } = &self.settings;
        match self.path {
            "/" => vec![
                heading("title", room),
                named("target label", "term", "Target"),
                named("target", "definition", &format!("{target} °C")),
                button("warmer", "Warmer", Use::Turn(1)),
                button("cooler", "Cooler", Use::Turn(-1)),
                Thing {
                    checked: Some(*is_heating),
                    on: Use::Heating,
                    ..named("heating", "switch", "Heating")
                },
                button("settings", "Settings", Use::Go("/settings")),
            ],
            "/settings" => vec![
                heading("title", "Settings"),
                Thing {
                    value: Some(room.clone()),
                    on: Use::Room,
                    ..named("room", "textbox", "Name of the room")
                },
                button("back", "Back", Use::Back),
            ],
            "/probe" => self.probe(),
            _ => Vec::new(),
        }
    }

    /// The scene of `enginewright check --probes common`.
    fn probe(&self) -> Vec<Thing> {
        let line: String = (0..200).map(|number| format!("{number:04} ")).collect();
        let replaced = if self.is_replaced {
            button("probe-fresh", "Replaced", Use::Count(100))
        } else {
            button("probe-stale", "Replace me", Use::Replace)
        };
        vec![
            heading("probe-title", "Probe"),
            button("probe-tap", "Add one", Use::Count(1)),
            says("probe-count", "status", &format!("Taps: {}", self.taps)),
            replaced,
            Thing { is_secret: true, on: Use::Pin, ..named("probe-secure", "textbox", "PIN") },
            says("probe-unicode", "paragraph", "Größe 尺寸 📐"),
            Thing { name: line.clone(), ..says("probe-long", "paragraph", &line) },
            Thing {
                children: vec![button("probe-inner", "Inner", Use::Count(10))],
                ..named("probe-box", "group", "Box")
            },
        ]
    }

    /// A new visit of a screen: what is on it gets ids that were never used before.
    fn show(&mut self, path: &'static str, client: &mut Client) {
        self.path = path;
        self.ids.clear();
        self.taps = 0;
        self.is_replaced = false;
        self.pin.clear();
        client.navigated(&self.location());
    }

    fn location(&self) -> String {
        format!("panel {}", if self.path.is_empty() { "(off)" } else { self.path })
    }

    /// The tree for the wire, and what is on it, inner things before those around them.
    fn render(&mut self) -> (Json, Vec<Shown>) {
        let screen = self.screen();
        let mut shown = Vec::new();
        let mut children = Vec::new();
        let mut y = GAP;
        for thing in &screen {
            let (node, height) = self.place(thing, (GAP, y), &mut shown);
            children.push(node);
            y += height + GAP;
        }
        self.ids.retain(|_, id| shown.iter().any(|item| item.id == *id));
        let rect = [0, 0, WIDTH, HEIGHT];
        let root = named("root", "application", "Room panel");
        let node = describe(&root, "root", rect, children);
        shown.push(Shown { id: "root".into(), rect, name: root.name, on: Use::None });
        (node, shown)
    }

    fn place(&mut self, thing: &Thing, (x, y): (i64, i64), shown: &mut Vec<Shown>) -> (Json, i64) {
        let id = self.ids.get(thing.key).cloned().unwrap_or_else(|| {
            self.minted += 1;
            format!("n{}", self.minted)
        });
        self.ids.insert(thing.key, id.clone());
        let mut height = GAP;
        let mut children = Vec::new();
        for child in &thing.children {
            let (node, needed) = self.place(child, (x + GAP, y + height), shown);
            children.push(node);
            height += needed + GAP;
        }
        let rect = [x, y, WIDTH - 2 * x, height.max(ROW)];
        shown.push(Shown { id: id.clone(), rect, name: thing.name.clone(), on: thing.on });
        (describe(thing, &id, rect, children), rect[3])
    }

    fn act(&mut self, item: &Shown, action: &Json, client: &mut Client) -> Result<(), Failure> {
        let kind = text(action, "kind")?;
        if !ACTIONS.contains(&kind) {
            return Err(Failure::engine("UNSUPPORTED_CAPABILITY", "The panel cannot do that."));
        }
        match (kind, item.on) {
            ("tap", Use::Turn(by)) => self.settings.target += by,
            ("tap", Use::Heating) => self.settings.is_heating ^= true,
            ("check" | "uncheck", Use::Heating) => self.settings.is_heating = kind == "check",
            ("tap", Use::Go(path)) => self.go(path, client),
            ("tap", Use::Back) => self.back(client),
            ("tap", Use::Count(by)) => self.taps += by,
            ("tap", Use::Replace) => self.is_replaced = true,
            ("fill", Use::Room) => self.settings.room = text(action, "value")?.into(),
            ("clear", Use::Room) => self.settings.room.clear(),
            ("fill", Use::Pin) => self.pin = text(action, "value")?.into(),
            ("clear", Use::Pin) => self.pin.clear(),
            ("tap", _) => {} // a finger may rest on anything
            _ => {
                let problem = format!("{} does not take {kind}.", item.name);
                return Err(Failure::engine("NOT_ACTIONABLE", &problem));
            }
        }
        Ok(())
    }

    fn back(&mut self, client: &mut Client) {
        if let Some(path) = self.history.pop() {
            self.show(path, client);
        }
    }

    fn blank(&mut self, client: &mut Client) {
        self.history.clear();
        self.show("", client);
    }

    fn go(&mut self, path: &'static str, client: &mut Client) {
        self.history.push(self.path);
        self.show(path, client);
    }

    fn open(&mut self, url: &str, client: &mut Client) -> Result<Step<Self>, Failure> {
        let path = match path_of(url) {
            "" => "/",
            "/settings" => "/settings",
            "/probe" => "/probe",
            "/probe/slow" => {
                return Ok(Step::Later(Duration::from_secs(10), |panel, client| {
                    panel.go("/probe", client);
                    Ok(Json::Null)
                }));
            }
            other => {
                let problem = format!("The panel has no screen {other}.");
                return Err(Failure::engine("ENGINE_FAILURE", &problem));
            }
        };
        self.go(path, client);
        Ok(Step::Done(Json::Null))
    }
}

impl Engine for Panel {
    const METHODS: &'static [&'static str] = &[
        "engine/observe",
        "engine/perform",
        "engine/performAt",
        "session/open",
        "session/back",
        "session/restart",
        "session/reset",
        "lifecycle/init",
        "lifecycle/startAttempt",
        "lifecycle/endAttempt",
        "lifecycle/dispose",
    ];

    fn facts() -> Json {
        object([
            ("name", "room-panel".into()),
            ("version", "1.0.0".into()),
            ("platform", "panel".into()),
            ("actions", Json::List(ACTIONS.map(Json::from).into())),
            ("pointerActions", Json::List(vec!["tap".into()])),
        ])
    }

    fn call(
        &mut self,
        method: &str,
        params: &Json,
        client: &mut Client,
    ) -> Result<Step<Self>, Failure> {
        match method {
            "engine/observe" => {
                let viewport = object([
                    ("width", WIDTH.into()),
                    ("height", HEIGHT.into()),
                    ("scale", 1.into()),
                ]);
                let (root, _) = self.render();
                return Ok(Step::Done(object([
                    ("location", self.location().as_str().into()),
                    ("root", root),
                    ("viewport", viewport),
                ])));
            }
            "engine/perform" => {
                let id = text(params, "ref.id")?;
                let (_, shown) = self.render();
                let item = shown.iter().find(|item| item.id == id).ok_or_else(|| {
                    Failure::engine("NODE_STALE", "The node is not on the screen: observe again.")
                })?;
                self.act(item, member(params, "action")?, client)?;
            }
            "engine/performAt" => {
                let (x, y) = (number(params, "point.x")?, number(params, "point.y")?);
                if text(params, "action.kind")? != "tap" {
                    let problem = "A point of the panel takes taps.";
                    return Err(Failure::engine("UNSUPPORTED_CAPABILITY", problem));
                }
                let (_, shown) = self.render();
                if let Some(item) = shown.iter().find(|item| item.covers(x, y)) {
                    self.act(item, member(params, "action")?, client)?;
                }
            }
            "session/open" => return self.open(text(params, "url")?, client),
            "session/back" => self.back(client),
            "session/restart" => self.blank(client),
            "session/reset" | "lifecycle/dispose" => {
                self.settings = Settings::default();
                self.blank(client);
            }
            "lifecycle/init" => client.log("the room panel is on"),
            _ => {}
        }
        Ok(Step::Done(Json::Null))
    }
}

fn member<'a>(params: &'a Json, name: &str) -> Result<&'a Json, Failure> {
    let problem = || Failure::rpc(-32602, &format!("params: {name} is missing."));
    params.at(name).ok_or_else(problem)
}

/// The path of a url, without its scheme, host, query and last slash.
fn path_of(url: &str) -> &str {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = match after_scheme.find('/') {
        Some(start) => &after_scheme[start..],
        None => "",
    };
    path.split(['?', '#']).next().unwrap_or("").trim_end_matches('/')
}
