#!/usr/bin/env python3
"""A ticket machine, as an example of an engine in Python: what it shows, and what is done to it.

Nothing here knows the protocol; that is engine_server.py. An engine for a real device would ask the
device for its screen in `observe`, and pass `perform` on to it.
"""
import re

from engine_server import EngineError, run, take

WIDTH, HEIGHT = 800, 600
FARES = {"Oslo": 49, "Porto": 38, "Zürich": 27}
PROBE_LINE = "".join(f"{number:04} " for number in range(200))
TEXT_LIMITS = {"name": 256, "text": 512, "value": 512}
# What each action calls on the thing it is done to, and with what; `fill` brings its own value.
ACTIONS = {
    "tap": ("tap", []),
    "fill": ("fill", []),
    "clear": ("fill", [""]),
    "check": ("check", [True]),
    "uncheck": ("check", [False]),
}


def thing(key, role, name=None, children=(), **more):
    """Something on the screen. `key` is its identity there; `tap`, `fill`, `check` act on it."""
    return {"key": key, "role": role, "name": name, "children": children, **more}


def heading(name, **more):
    return thing("heading", "heading", name, level=1, **more)


def button(name, tap, **more):
    return thing(name, "button", name, tap=tap, **more)


class Kiosk:
    facts = {
        "name": "ticket-machine",
        "version": "1.0.0",
        "platform": "kiosk",
        "actions": list(ACTIONS),
        "pointerActions": ["tap"],
    }

    def __init__(self, client):
        self.client = client
        self.minted = 0
        self.clear()
        self.show(None)

    # -- The screens -------------------------------------------------------------------------------

    def start(self):
        def choose(city):
            return lambda: self.go("/ticket", city=city)

        return [heading("Where to?"), *(button(city, choose(city)) for city in FARES)]

    def ticket(self):
        price = FARES[self.city] * (2 if self.is_return else 1)
        return [
            heading(f"Ticket to {self.city}"),
            *([thing("problem", "alert", self.problem)] if self.problem else []),
            thing(
                "return",
                "checkbox",
                "Return ticket",
                states={"checked": self.is_return},
                tap=lambda: self.set(is_return=not self.is_return),
                check=lambda on: self.set(is_return=on),
            ),
            thing(
                "passenger",
                "textbox",
                "Passenger",
                value=self.passenger,
                fill=lambda text: self.set(passenger=text),
            ),
            thing("price label", "term", "Price"),
            thing("price", "definition", f"€{price}"),
            button("Buy", self.buy),
            button("Back", self.step_back),
        ]

    def bought(self):
        return [
            heading("Have a good trip"),
            thing("number label", "term", "Ticket number"),
            thing("number", "definition", f"T-{self.sold}"),
            thing("for", "paragraph", text=f"{self.passenger} travels to {self.city}."),
            button("Another ticket", lambda: self.show("/", city="Oslo", passenger="")),
        ]

    def probe(self):
        """The common scene that `enginewright check --probes common` knows its way about in."""

        def add(number):
            return lambda: self.set(taps=self.taps + number)

        return [
            heading("Probe", testId="probe-title"),
            button("Add one", add(1), testId="probe-tap"),
            thing("count", "status", text=f"Taps: {self.taps}", testId="probe-count"),
            button("Replaced", add(100), testId="probe-fresh")
            if self.is_replaced
            else button("Replace me", lambda: self.set(is_replaced=True), testId="probe-stale"),
            thing(
                "pin",
                "textbox",
                "PIN",
                testId="probe-secure",
                inputPurpose="password",
                states={"secure": True},
                fill=lambda text: self.set(pin=text),
            ),
            thing("unicode", "paragraph", text="Größe 尺寸 📐", testId="probe-unicode"),
            thing("long", "paragraph", PROBE_LINE, text=PROBE_LINE, testId="probe-long"),
            thing("box", "group", "Box", [button("Inner", add(10), testId="probe-inner")],
                  testId="probe-box"),
        ]

    SCREENS = {"/": start, "/ticket": ticket, "/bought": bought, "/probe": probe}

    # -- What happens on them ----------------------------------------------------------------------

    def set(self, **values):
        vars(self).update(values)

    def clear(self):
        self.set(history=[], city="Oslo", is_return=False, passenger="", sold=100)

    def show(self, path, **values):
        """A new visit of a screen: what is on it gets ids that were never used before."""
        self.set(path=path, problem="", taps=0, is_replaced=False, pin="", **values)
        self.ids = {}
        self.client.report("navigation", line=self.location())

    def go(self, path, **values):
        self.history.append(self.path)
        self.show(path, **values)

    def step_back(self):
        if self.history:
            self.show(self.history.pop())

    def buy(self):
        if self.passenger.strip():
            self.go("/bought", sold=self.sold + 1)
        else:
            self.problem = "Who travels? Please fill in the passenger."

    def location(self):
        return f"ticket machine {self.path or '(off)'}"

    # -- What the harness sees of it ---------------------------------------------------------------

    def render(self):
        """The tree for the wire; `self.shown` then has the thing and the box behind each id."""
        ids, self.shown = {}, {}

        def place(item, path, x, y):
            path += (item["key"],)
            node_id = ids[path] = self.ids.get(path) or self.mint()
            children, bottom = [], y + 10
            for child in item["children"]:
                children.append(place(child, path, x + 10, bottom))
                bottom += children[-1]["rect"]["height"] + 10
            rect = {
                "x": x,
                "y": y,
                "width": WIDTH - 2 * x,
                "height": bottom - y if children else 30,
            }
            return node(node_id, item, rect, children)

        def node(node_id, item, rect, children):
            self.shown[node_id] = (item, rect)
            seen = {"ref": {"id": node_id, "revision": ""}, "role": item["role"], "rect": rect}
            for member, limit in TEXT_LIMITS.items():
                if item.get(member) is not None:
                    seen[member] = item[member][:limit]
            for member in ("testId", "inputPurpose", "states", "level"):
                if member in item:
                    seen[member] = item[member]
            if children:
                seen["children"] = children
            return seen

        root = thing("root", "application", "Ticket machine")
        screen = [] if self.path is None else self.SCREENS[self.path](self)
        children, y = [], 10
        for item in screen:
            children.append(place(item, (), 20, y))
            y += children[-1]["rect"]["height"] + 10
        self.ids = ids
        return node("root", root, {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT}, children)

    def mint(self):
        self.minted += 1
        return f"n{self.minted}"

    def act(self, item, action):
        kind = take(action, "kind", str)
        if kind not in ACTIONS:
            raise EngineError("UNSUPPORTED_CAPABILITY", f"The ticket machine has no {kind[:40]}.")
        member, arguments = ACTIONS[kind]
        if kind == "fill":
            arguments = [take(action, "value", str)]
        if member in item:
            item[member](*arguments)
        elif kind != "tap":  # a finger may rest on anything
            raise EngineError("NOT_ACTIONABLE", f"{item['name'] or 'This'} does not take {kind}.")

    # -- The members that engine_server calls ------------------------------------------------------

    async def init(self, env, operation):
        self.client.log("the ticket machine is on")

    async def start_attempt(self, attempt_id, operation):
        self.client.report("environment", facts={"ticket-machine": self.facts["version"]})

    async def end_attempt(self, operation):
        pass

    async def dispose(self, operation):
        self.clear()
        self.show(None)

    async def observe(self, options, operation):
        viewport = {"width": WIDTH, "height": HEIGHT, "scale": 1}
        return {"location": self.location(), "root": self.render(), "viewport": viewport}

    async def perform(self, node_id, action, operation):
        self.render()
        if node_id not in self.shown:
            raise EngineError("NODE_STALE", f"{node_id[:60]} is not on the screen: observe again.")
        self.act(self.shown[node_id][0], action)

    async def perform_at(self, x, y, action, operation):
        if take(action, "kind", str) != "tap":
            raise EngineError("UNSUPPORTED_CAPABILITY", "A point of the ticket machine takes taps.")
        self.render()
        for item, box in self.shown.values():  # what lies inside comes before what it lies in
            across, down = x - box["x"], y - box["y"]
            if 0 <= across < box["width"] and 0 <= down < box["height"] and "tap" in item:
                return self.act(item, action)

    async def open(self, url, operation):
        # The scheme and the host are the harness's own affair.
        path = re.sub(r"^[\w+.-]+://[^/?#]*|[?#].*$", "", url).rstrip("/") or "/"
        if path == "/probe/slow":
            await operation.wait(10)
            path = "/probe"
        if path not in self.SCREENS:
            raise EngineError("ENGINE_FAILURE", f"The ticket machine has no screen {path[:80]}.")
        self.go(path)

    async def back(self, operation):
        self.step_back()

    async def restart(self, operation):
        self.show(None, history=[])

    async def reset(self, operation):
        self.clear()
        self.show(None)


if __name__ == "__main__":
    run(Kiosk)
