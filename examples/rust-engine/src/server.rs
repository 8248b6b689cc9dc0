//! The JSON-RPC loop, the life of a connection, and signals. One thread reads packets into a
//! channel; everything else happens on the thread of `serve`, so that an engine needs no locks. A
//! call that takes time answers `Step::Later`, and is finished by the loop when that time has come,
//! unless its signal aborts or its own time is up first.
use crate::json::{object, Json};
use crate::wire::{read_packet, write_packet, Failure};
use std::io::{BufRead, Write};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The rest of a call that took time.
pub type Finish<E> = fn(&mut E, &mut Client) -> Result<Json, Failure>;

/// What a call comes to.
pub enum Step<E> {
    Done(Json),
    /// Goes on after a time; other calls are answered meanwhile.
    Later(Duration, Finish<E>),
}

pub trait Engine: Sized {
    /// The manifest without its methods.
    fn facts() -> Json;
    /// The engine methods that `call` answers.
    const METHODS: &'static [&'static str];
    fn call(
        &mut self,
        method: &str,
        params: &Json,
        client: &mut Client,
    ) -> Result<Step<Self>, Failure>;
}

/// What an engine can tell the harness.
pub struct Client {
    output: Box<dyn Write>,
    attempt: Option<String>,
}

impl Client {
    /// For `lifecycle/init`: a line for the log of the run.
    pub fn log(&mut self, line: &str) {
        self.notify("engine/log", object([("line", line.into())]));
    }

    /// Where the surface is now; nothing outside an attempt.
    pub fn navigated(&mut self, line: &str) {
        if let Some(id) = &self.attempt {
            let params = object([("attemptId", id.as_str().into()), ("line", line.into())]);
            self.notify("attempt/navigation", params);
        }
    }

    fn notify(&mut self, method: &str, params: Json) {
        self.send(object([
            ("jsonrpc", "2.0".into()),
            ("method", method.into()),
            ("params", params),
        ]));
    }

    fn reply(&mut self, id: Json, outcome: Result<Json, Failure>) {
        let (name, value) = match outcome {
            Ok(result) => ("result", result),
            Err(Failure(error)) => ("error", error),
        };
        self.send(object([("jsonrpc", "2.0".into()), ("id", id), (name, value)]));
    }

    fn send(&mut self, message: Json) {
        // A client that is gone cannot be told so; the end of the input follows.
        if let Err(error) = write_packet(&mut self.output, &message) {
            eprintln!("room-panel: {error}");
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    New,
    Ready,
    Refused,
    ShutDown,
}

/// A call that waits for its time. Signals need no other memory: one that no call waits with has
/// nothing to end, and a forgotten id is a new signal when it comes again.
struct Waiting<E> {
    id: Json,
    signal: Json,
    due: Instant,
    /// Its budget; a time too far away to be counted is none.
    ends: Option<Instant>,
    finish: Finish<E>,
}

struct Connection<E> {
    engine: E,
    client: Client,
    state: State,
    waiting: Vec<Waiting<E>>,
}

/// Serves one client until it says `exit` or is gone. Gives the exit code.
pub fn serve<E: Engine>(
    engine: E,
    mut input: impl BufRead + Send + 'static,
    output: impl Write + 'static,
) -> i32 {
    let (sender, packets) = channel();
    thread::spawn(move || {
        while let Ok(Some(body)) = read_packet(&mut input) {
            if sender.send(body).is_err() {
                return;
            }
        }
    });
    let client = Client { output: Box::new(output), attempt: None };
    let mut connection = Connection { engine, client, state: State::New, waiting: Vec::new() };
    let code = loop {
        let next = connection.waiting.iter().map(Waiting::wakes).min();
        let received = match next {
            Some(at) => packets.recv_timeout(at.saturating_duration_since(Instant::now())),
            None => packets.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match received {
            Ok(body) if connection.receive(&body) => {
                break i32::from(connection.state != State::ShutDown);
            }
            Err(RecvTimeoutError::Disconnected) => break 0,
            _ => connection.finish_due(),
        }
    };
    connection.end();
    code
}

impl<E> Waiting<E> {
    fn wakes(&self) -> Instant {
        self.ends.map_or(self.due, |ends| ends.min(self.due))
    }
}

impl<E: Engine> Connection<E> {
    /// Answers a message; true when it is `exit`.
    fn receive(&mut self, body: &[u8]) -> bool {
        let parsed =
            std::str::from_utf8(body).map_err(|error| error.to_string()).and_then(Json::parse);
        let message = match parsed {
            Ok(message) => message,
            Err(problem) => {
                let failure = Failure::rpc(-32700, &format!("The message is no JSON: {problem}."));
                self.client.reply(Json::Null, Err(failure));
                return false;
            }
        };
        let method = message.at("method");
        let id = message.at("id");
        let is_answer = message.at("result").is_some() || message.at("error").is_some();
        if method.is_none() && is_answer {
            return false; // nothing was asked
        }
        let is_id = matches!(id, None | Some(Json::Null | Json::Number(_) | Json::Text(_)));
        let is_version = message.at("jsonrpc").and_then(Json::as_text) == Some("2.0");
        let Some(Json::Text(method)) = method.filter(|_| is_id && is_version) else {
            let id = id.filter(|_| is_id).cloned().unwrap_or(Json::Null);
            let failure = Failure::rpc(-32600, "This is no message of JSON-RPC 2.0.");
            self.client.reply(id, Err(failure));
            return false;
        };
        let params = message.at("params").unwrap_or(&Json::Null);
        let Some(id) = id else {
            if method == "$/abort" && self.state == State::Ready {
                self.abort(params);
            }
            return method == "exit";
        };
        match self.call(method, params) {
            Ok(Step::Done(result)) => self.client.reply(id.clone(), Ok(result)),
            Ok(Step::Later(time, finish)) => self.postpone(id, params, (time, finish)),
            Err(failure) => self.client.reply(id.clone(), Err(failure)),
        }
        false
    }

    fn call(&mut self, method: &str, params: &Json) -> Result<Step<E>, Failure> {
        match (self.state, method) {
            (State::New, "initialize") => return self.initialize(params).map(Step::Done),
            (State::New, _) => {
                return Err(Failure::rpc(-32002, &format!("{method}: initialize comes first.")));
            }
            (State::Ready, "initialize") | (State::Refused | State::ShutDown, _) => {
                let problem = format!("{method}: the connection is {:?}.", self.state);
                return Err(Failure::rpc(-32600, &problem));
            }
            (State::Ready, "shutdown") => self.state = State::ShutDown,
            (State::Ready, "$/ping") => {}
            (State::Ready, _) if E::METHODS.contains(&method) => {
                return self.call_engine(method, params);
            }
            (State::Ready, _) => {
                return Err(Failure::rpc(-32601, "This method is not answered here."));
            }
        }
        Ok(Step::Done(Json::Null))
    }

    fn initialize(&mut self, params: &Json) -> Result<Json, Failure> {
        if params.at("protocolVersion").and_then(Json::as_number) != Some(1.0) {
            self.state = State::Refused;
            let Failure(mut error) = Failure::rpc(-32602, "This server speaks version 1 only.");
            error.set("data", object([("supported", 1.into())]));
            return Err(Failure(error));
        }
        self.state = State::Ready;
        let mut manifest = E::facts();
        let methods = E::METHODS.iter().map(|name| Json::from(*name)).collect();
        manifest.set("spiVersion", 1);
        manifest.set("methods", Json::List(methods));
        Ok(object([("protocolVersion", 1.into()), ("manifest", manifest)]))
    }

    fn call_engine(&mut self, method: &str, params: &Json) -> Result<Step<E>, Failure> {
        let limits = if method.starts_with("lifecycle/") {
            params
        } else {
            number(params, "operation.timeoutMs")?;
            params.at("operation").ok_or_else(|| missing("operation"))?
        };
        let signal = limits.at("signal").ok_or_else(|| missing("signal"))?;
        if !matches!(signal.at("id"), Some(Json::Number(_) | Json::Text(_))) {
            return Err(missing("signal.id"));
        }
        let is_aborted = signal.at("aborted") == Some(&Json::Bool(true));
        if is_aborted {
            self.abort(signal);
        }
        match method {
            "lifecycle/startAttempt" if self.client.attempt.is_some() => {
                let problem = "The attempt before has not ended.";
                return Err(Failure::engine("INVALID_STATE", problem));
            }
            "lifecycle/startAttempt" => {
                self.client.attempt = Some(text(params, "attemptId")?.to_string());
            }
            "lifecycle/endAttempt" => {
                self.cancel_all();
                let ended = self.engine.call(method, params, &mut self.client);
                self.client.attempt = None;
                return ended;
            }
            _ => {}
        }
        if is_aborted && method != "lifecycle/dispose" {
            return Err(reason(signal));
        }
        self.engine.call(method, params, &mut self.client)
    }

    fn postpone(&mut self, id: &Json, params: &Json, (time, finish): (Duration, Finish<E>)) {
        let now = Instant::now();
        let timeout_ms = params.at("operation.timeoutMs").and_then(Json::as_number);
        let budget = Duration::try_from_secs_f64(timeout_ms.unwrap_or(f64::MAX).max(0.0) / 1000.0);
        self.waiting.push(Waiting {
            id: id.clone(),
            signal: params.at("operation.signal.id").cloned().unwrap_or(Json::Null),
            due: now + time,
            ends: budget.ok().and_then(|budget| now.checked_add(budget)),
            finish,
        });
    }

    /// Finishes, or ends, the calls whose time has come.
    fn finish_due(&mut self) {
        let now = Instant::now();
        while let Some(index) = self.waiting.iter().position(|call| call.wakes() <= now) {
            let call = self.waiting.swap_remove(index);
            let outcome = if call.due <= now {
                (call.finish)(&mut self.engine, &mut self.client)
            } else {
                Err(Failure::engine("OPERATION_TIMEOUT", "The time of the call is up."))
            };
            self.client.reply(call.id, outcome);
        }
    }

    /// Ends the calls that wait with a signal, with the reason as it came.
    fn abort(&mut self, wire: &Json) {
        while let Some(index) =
            self.waiting.iter().position(|call| Some(&call.signal) == wire.at("id"))
        {
            let call = self.waiting.swap_remove(index);
            self.client.reply(call.id, Err(reason(wire)));
        }
    }

    fn cancel_all(&mut self) {
        for call in std::mem::take(&mut self.waiting) {
            let failure = Failure::engine("CANCELLED", "The attempt is over.");
            self.client.reply(call.id, Err(failure));
        }
    }

    /// What a client that is gone left open.
    fn end(&mut self) {
        self.cancel_all();
        for method in ["lifecycle/endAttempt", "lifecycle/dispose"] {
            if E::METHODS.contains(&method) {
                let _ = self.engine.call(method, &Json::Null, &mut self.client);
            }
            self.client.attempt = None;
        }
    }
}

fn reason(signal: &Json) -> Failure {
    let given = signal.at("reason").filter(|reason| {
        reason.at("code").and_then(Json::as_number).is_some()
            && reason.at("message").and_then(Json::as_text).is_some()
    });
    given.map_or_else(
        || Failure::engine("CANCELLED", "The client aborted the call."),
        |reason| Failure(reason.clone()),
    )
}

fn missing(path: &str) -> Failure {
    Failure::rpc(-32602, &format!("params: {path} is missing, or not what it has to be."))
}

/// A text of the params, or -32602.
pub fn text<'a>(params: &'a Json, path: &str) -> Result<&'a str, Failure> {
    params.at(path).and_then(Json::as_text).ok_or_else(|| missing(path))
}

/// A number of the params, or -32602.
pub fn number(params: &Json, path: &str) -> Result<f64, Failure> {
    params.at(path).and_then(Json::as_number).ok_or_else(|| missing(path))
}
