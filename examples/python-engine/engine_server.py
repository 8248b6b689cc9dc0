"""The engine protocol's server side, for Python 3.9 or later: copy it, write your engine beside it.

An engine is a class with a method for each thing it can do (the members in METHODS; at least
start_attempt and end_attempt), and `facts` for its manifest. It is made with its Connection, whose
`report` and `log` it may call. What it has no method for, the manifest does not list.
Calls run on one event loop: what stands between two `await`s happens as a whole. What takes long
awaits `operation.wait`, or `asyncio.to_thread` around a blocking library, so that other calls and
aborts get in meanwhile. stdout is the protocol's; whatever is printed goes to stderr.
"""
import asyncio, contextlib, json, os, re, sys, threading, time, traceback

NUMBER = (int, float)

# Wire name -> member of the engine, and the params that become its arguments, by dotted path and
# type; `?` marks one that may be absent. After them every member gets its Operation.
METHODS = {
    "engine/observe": ("observe", {"options?": dict}),
    "engine/locate": ("locate", {"expression": dict}),
    "engine/perform": ("perform", {"ref.id": str, "action": dict}),
    "engine/performAt": ("perform_at", {"point.x": NUMBER, "point.y": NUMBER, "action": dict}),
    "keyboard/type": ("type", {"text": str, "options.replace": bool}),
    "keyboard/press": ("press", {"key": str}),
    "keyboard/dismiss": ("dismiss", {}),
    "state/capture": ("capture", {}),
    "state/restore": ("restore", {"state": dict}),
    "artifacts/screenshot": ("screenshot", {"label?": str}),
    "session/open": ("open", {"url": str}),
    "session/back": ("back", {}),
    "session/restart": ("restart", {}),
    "session/reset": ("reset", {}),
    "lifecycle/init": ("init", {"env": dict}),
    "lifecycle/startAttempt": ("start_attempt", {"attemptId": str}),
    "lifecycle/endAttempt": ("end_attempt", {}),
    "lifecycle/dispose": ("dispose", {}),
}

# -- Errors: raise an EngineError, and the harness knows what happened -----------------------------
class RpcError(Exception):
    """What answers a call that failed."""
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.wire = {"code": code, "message": message, **({} if data is None else {"data": data})}


class EngineError(RpcError):
    """A failure of the engine, under a code of the contract. Two of them may be tried again."""
    def __init__(self, code, message):
        retryable = code in ("NODE_STALE", "FRAME_NOT_FOUND")
        super().__init__(-32000, message, {"type": "engine", "code": code, "retryable": retryable})

# -- Framing: a Content-Length header, a blank line, so many bytes of JSON -------------------------
HEADER_LIMIT = 8 * 1024
# Searched for: a header may stand at the end of a broken body. Eight digits: at most 100 MB.
LENGTH = re.compile(rb"(?<![\w-])Content-Length[ \t]*:[ \t]*(\d{1,8})[ \t]*\r?\n", re.IGNORECASE)


async def read_packet(reader):
    """The body of the next packet, or None at the end. Lines that are no header are skipped."""
    length = None
    while True:
        try:
            line = await reader.readline()
            found = LENGTH.search(line)
            if found is not None:
                length = int(found[1])
            elif not line.endswith(b"\n"):
                return None
            elif not line.strip() and length is not None:
                return await reader.readexactly(length)
            elif length is None and line.strip():
                log(f"skipped what is no header: {line[:80]!r}")
        except ValueError:
            log(f"skipped {HEADER_LIMIT} bytes without an end of line")
        except (asyncio.IncompleteReadError, OSError):
            return None


def packet(message):
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)  # bytes, not characters


def log(line):
    print(f"engine: {line}", file=sys.stderr, flush=True)

# -- Calls: their limits, and reading what came with them ------------------------------------------
class Operation:
    """The limits of a call: its time, and a signal whose result is the error to raise on abort."""
    def __init__(self, signal, timeout_ms):
        self.signal = signal
        self.ends = float("inf") if timeout_ms is None else time.monotonic() + timeout_ms / 1000

    def check(self):
        """Raises when the call was aborted: use it before anything that cannot be undone."""
        if self.signal.done():
            raise self.signal.result()

    async def wait(self, seconds):
        """Lets time pass; raises as soon as the call is aborted, or its time is up."""
        left = max(0, self.ends - time.monotonic())
        await asyncio.wait([self.signal], timeout=min(seconds, left))
        self.check()
        if left < seconds:
            raise EngineError("OPERATION_TIMEOUT", "The time of the call is up.")


def take(params, path, kind):
    """The member at a dotted path; -32602 when it is missing or of another type."""
    value = params
    for name in path.rstrip("?").split("."):
        value = value.get(name) if isinstance(value, dict) else None
    is_absent = value is None and path.endswith("?")
    is_wrong = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
    if is_wrong and not is_absent:
        raise RpcError(-32602, f"{path} is missing, or not what it has to be.")
    return value

# -- The connection: the JSON-RPC loop, its life, the signals it holds -----------------------------
class Connection:
    def __init__(self, make_engine, send):
        self.send = send
        self.state = "new"  # then "ready" or "refused", and "shut down"
        self.tasks = set()
        self.signals = {}
        self.attempt_id = None
        self.of_attempt = set()  # the ids of signals first seen in the attempt that is open
        self.engine = make_engine(self)
        self.methods = {
            name: (getattr(self.engine, member), wanted)
            for name, (member, wanted) in METHODS.items()
            if hasattr(self.engine, member)
        }

    def log(self, line):
        """For the engine's `init`: a line for the log of the run."""
        self.notify("engine/log", line=line)

    def report(self, what, **params):
        """For the engine: `navigation` (line), `environment` (facts), `appLog` (entry)."""
        if self.attempt_id is not None:
            self.notify(f"attempt/{what}", attemptId=self.attempt_id, **params)

    async def serve(self, reader):
        """Until the client says `exit` or is gone. Gives the exit code."""
        body = await read_packet(reader)
        while body is not None and not self.receive(body):
            # The call in a packet begins before the next one is read: that may be its `$/abort`.
            await asyncio.sleep(0)
            body = await read_packet(reader)
        if self.state != "shut down":
            for signal_id in list(self.signals):
                self.abort({"id": signal_id})
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=5)
        for method in ("lifecycle/endAttempt", "lifecycle/dispose"):
            with contextlib.suppress(Exception):
                await self.call_engine(method, {"signal": {"id": "end"}, "timeoutMs": 30_000})
        return 1 if body is not None and self.state != "shut down" else 0

    def receive(self, body):
        """Begins what a message asks for; True when that is `exit`."""
        try:
            message = json.loads(body.decode("utf-8"), parse_constant=int)  # int refuses NaN
        except (ValueError, RecursionError) as error:
            return self.reply(None, error={"code": -32700, "message": f"No JSON: {error}"})
        message = message if isinstance(message, dict) else {}
        method, call_id, params = (message.get(name) for name in ("method", "id", "params"))
        if method is None and ("result" in message or "error" in message):
            return None  # an answer, but nothing was asked
        id_is_valid = call_id is None or type(call_id) in (str, int, float)
        if message.get("jsonrpc") != "2.0" or not isinstance(method, str) or not id_is_valid:
            error = {"code": -32600, "message": "This is no message of JSON-RPC 2.0."}
            return self.reply(call_id if id_is_valid else None, error=error)
        if "id" in message:
            task = asyncio.ensure_future(self.handle(call_id, method, params))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        elif method == "$/abort" and self.state == "ready":
            with contextlib.suppress(RpcError):
                self.abort(params)
        return method == "exit" and "id" not in message

    async def handle(self, call_id, method, params):
        try:
            self.reply(call_id, result=await self.call(method, params))
        except RpcError as error:
            self.reply(call_id, error=error.wire)
        except Exception as error:  # a mistake in the engine; the connection lives on
            traceback.print_exc()
            self.reply(call_id, error={"code": -32603, "message": repr(error)})

    def reply(self, call_id, **outcome):
        self.send({"jsonrpc": "2.0", "id": call_id, **outcome})

    def notify(self, method, **params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def call(self, method, params):
        if self.state == "new" and method != "initialize":
            raise RpcError(-32002, f"{method}: initialize comes first.")
        if self.state != ("new" if method == "initialize" else "ready"):
            raise RpcError(-32600, f"{method}: the connection is {self.state}.")
        if method == "initialize":
            version = params.get("protocolVersion") if isinstance(params, dict) else None
            self.state = "ready" if version == 1 and version is not True else "refused"
            if self.state == "refused":
                raise RpcError(-32602, "This server speaks version 1 only.", {"supported": 1})
            manifest = {**self.engine.facts, "spiVersion": 1, "methods": list(self.methods)}
            return {"protocolVersion": 1, "manifest": manifest}
        if method == "shutdown":
            self.state = "shut down"
        if method in ("shutdown", "$/ping"):
            return None
        if method not in self.methods:
            raise RpcError(-32601, f"{method[:80]} is not answered here.")
        return await self.call_engine(method, params)

    async def call_engine(self, method, params):
        member, wanted = self.methods[method]
        arguments = [take(params, path, kind) for path, kind in wanted.items()]
        limits = params if method.startswith("lifecycle/") else take(params, "operation", dict)
        signal, timeout_ms = take(limits, "signal", dict), take(limits, "timeoutMs?", NUMBER)
        if method == "lifecycle/startAttempt":
            if self.attempt_id is not None:
                raise EngineError("INVALID_STATE", "The attempt before has not ended.")
            self.attempt_id = params["attemptId"]
        operation = Operation(self.signal(signal), timeout_ms)
        if method not in ("lifecycle/endAttempt", "lifecycle/dispose"):  # these clean up anyway
            operation.check()
        try:
            return await member(*arguments, operation)
        finally:
            if method == "lifecycle/endAttempt":
                self.attempt_id = None
                while self.of_attempt:
                    self.signals.pop(self.of_attempt.pop(), None)

    def signal(self, wire):
        """The signal of an id: the one that is held, or a new one."""
        signal_id = take(wire, "id", (int, str))
        if signal_id not in self.signals:
            self.signals[signal_id] = asyncio.get_running_loop().create_future()
            if self.attempt_id is not None:
                self.of_attempt.add(signal_id)
        signal = self.signals[signal_id]
        if wire.get("aborted") is True:
            self.abort(wire)
        return signal

    def abort(self, wire):
        """Aborts with the reason as it came, and forgets the id: sent again it is a new signal."""
        reason = EngineError("CANCELLED", "The client aborted the call.")
        if take(wire, "reason?", dict) is not None:
            code, message = take(wire, "reason.code", int), take(wire, "reason.message", str)
            reason = RpcError(code, message, wire["reason"].get("data"))
        signal = self.signals.pop(take(wire, "id", (int, str)), None)
        if signal is not None:
            signal.set_result(reason)

# -- Running ---------------------------------------------------------------------------------------
async def serve_stdio(make_engine):
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(HEADER_LIMIT)
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what anybody prints, also a child process, goes to stderr from here on

    def pump():  # a thread, because not every platform's event loop can read its stdin
        with contextlib.suppress(OSError, RuntimeError):  # the loop may be closed by then
            while chunk := os.read(0, 65536):
                loop.call_soon_threadsafe(reader.feed_data, chunk)
            loop.call_soon_threadsafe(reader.feed_eof)

    def send(message):
        left = packet(message)
        with contextlib.suppress(OSError):  # a client that is gone; its input ends as well
            while left:
                left = left[output.write(left) :]

    threading.Thread(target=pump, daemon=True).start()
    return await Connection(make_engine, send).serve(reader)


async def serve_tcp(make_engine, port):
    async def serve(reader, writer):
        await Connection(make_engine, lambda message: writer.write(packet(message))).serve(reader)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port, limit=HEADER_LIMIT)
    log(f"listening on 127.0.0.1:{server.sockets[0].getsockname()[1]}")
    await server.serve_forever()


def run(make_engine):
    """Serves stdin and stdout; with `--tcp PORT`, an engine to each connection on loopback."""
    try:
        if sys.argv[1:2] == ["--tcp"]:
            asyncio.run(serve_tcp(make_engine, int(sys.argv[2])))
        sys.exit(asyncio.run(serve_stdio(make_engine)))
    except KeyboardInterrupt:
        sys.exit(130)
