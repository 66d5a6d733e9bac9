//! gdb's own adapter for the Debug Adapter Protocol (`gdb -i=dap`), which editors start.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use super::serve;
use crate::support::page::{Names, Page, demo};
use crate::support::{DEADLINE, Gdb, Killed, Server, data, wait};
use serde_json::{Value, json};

/// A gdb that is asked as an editor asks it.
struct Adapter {
    gdb: Killed,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
    /// Those that came before a response.
    events: Vec<Value>,
}

impl Adapter {
    /// One that is started as an editor starts it.
    fn with(arguments: &[String]) -> Adapter {
        let mut command = Command::new(Gdb::Newest.path());
        command.args(["-nx", "-nh", "-q", "-iex", "set debuginfod enabled off"]).args(arguments);
        command.env("HOME", "/nonexistent").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut gdb = command.spawn().expect("gdb 18.1 is needed (scripts/test installs it)");
        let (input, output) = (gdb.stdin.take().unwrap(), BufReader::new(gdb.stdout.take().unwrap()));
        Adapter { gdb: Killed(gdb), input, output, asked: 0, events: Vec::new() }
    }

    fn ask(&mut self, command: &str, arguments: &Value) -> u64 {
        self.asked += 1;
        let request = json!({ "seq": self.asked, "type": "request", "command": command, "arguments": arguments });
        let text = request.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
        self.asked
    }

    fn message(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "gdb has ended");
            match line.trim().split_once(": ") {
                Some((_, value)) => length = value.parse().unwrap(),
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// The response to a request.
    fn response(&mut self, to: u64) -> Value {
        loop {
            let message = self.message();
            if message["request_seq"] == to {
                return message;
            }
            self.events.extend(message.get("event").is_some().then_some(message));
        }
    }

    /// Asks, and what comes of it.
    fn body(&mut self, command: &str, arguments: &Value) -> Value {
        let asked = self.ask(command, arguments);
        let response = self.response(asked);
        assert_eq!(response["success"], true, "{command}: {response}");
        response["body"].clone()
    }

    /// The next event of this name.
    fn event(&mut self, name: &str) -> Value {
        if let Some(at) = self.events.iter().position(|event| event["event"] == name) {
            return self.events.drain(..=at).next_back().unwrap();
        }
        loop {
            let message = self.message();
            if message["event"] == name {
                return message;
            }
        }
    }

    /// The next stop; why, and where.
    fn stop(&mut self) -> (String, String) {
        let reason = self.event("stopped")["body"]["reason"].as_str().unwrap().to_owned();
        let stack = self.body("stackTrace", &json!({ "threadId": 1, "levels": 1 }));
        (reason, stack["stackFrames"][0]["instructionPointerReference"].as_str().unwrap().to_owned())
    }

    fn go(&mut self, command: &str) -> (String, String) {
        self.body(command, &json!({ "threadId": 1, "granularity": "instruction" }));
        self.stop()
    }

    fn evaluate(&mut self, expression: &str, context: &str) -> String {
        let body = self.body("evaluate", &json!({ "expression": expression, "context": context }));
        body["result"].as_str().unwrap().to_owned()
    }
}

#[test]
fn an_editor_walks_through_a_recording() {
    let (recording, program) = (data("tfile/04-step.tf"), data("bin/case"));
    let server = Server::serve(&[recording.to_str().unwrap(), "--exec", program.to_str().unwrap()]);
    let mut adapter = Adapter::with(&["-i=dap", "-iex", "set sysroot"].map(str::to_owned));
    adapter.body("initialize", &json!({ "clientID": "tests", "adapterID": "gdb" }));
    let target = format!("localhost:{}", server.port);
    let attach = adapter.ask("attach", &json!({ "program": program, "target": target }));
    let breakpoints = json!({ "breakpoints": [{ "instructionReference": "0x401136" }] });
    adapter.body("setInstructionBreakpoints", &breakpoints);
    adapter.body("configurationDone", &json!({}));
    assert_eq!(adapter.response(attach)["success"], true);
    let at = |reason: &str, pc: &str| (reason.to_owned(), pc.to_owned());
    assert_eq!(adapter.stop(), at("attach", "0x401131"));
    assert_eq!(adapter.body("threads", &json!({}))["threads"][0]["id"], 1);
    assert_eq!(adapter.go("continue"), at("breakpoint", "0x401136"));
    assert_eq!(adapter.go("next"), at("step", "0x401139"));
    assert_eq!(adapter.go("stepIn"), at("step", "0x401131"));
    // gdb 18.1 cannot go back for an editor; what is typed into its console can.
    let backward = adapter.ask("stepBack", &json!({ "threadId": 1 }));
    assert_eq!(adapter.response(backward)["success"], false);
    assert!(adapter.evaluate("tfind 9", "repl").contains("Found trace frame 9"));
    assert_eq!(adapter.evaluate("counter", "watch"), "2");
    assert!(adapter.evaluate("monitor find reg rax == 7", "repl").contains("tfind 28"));
    adapter.body("disconnect", &json!({}));
    assert!(wait(&mut adapter.gdb, DEADLINE).is_some());
}

/// The parts of a value that are named must be as they are.
fn holds(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(value), Value::Object(part)) => {
            part.iter().all(|(key, part)| value.get(key).is_some_and(|value| holds(value, part)))
        }
        (Value::Array(values), Value::Array(parts)) => {
            values.len() == parts.len() && values.iter().zip(parts).all(|(value, part)| holds(value, part))
        }
        _ => value == part,
    }
}

/// What stands in quotes in a line of Lua.
fn quoted(line: &str) -> Vec<String> {
    line.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_page_is_as_it_shows_it() {
    let page = Page::of_client("debug_adapter");
    let server = serve(&[]);
    let names = Names::new(&[
        ("/home/me", demo().to_str().unwrap()),
        ("localhost:1234", &format!("localhost:{}", server.port)),
    ]);
    let lua = names.meant(&page.block("lua"));
    let value_of =
        |name: &str| quoted(lua.lines().find_map(|line| line.trim().strip_prefix(&format!("{name} = "))).unwrap());
    let mut adapter = Adapter::with(&value_of("args"));
    let attach = json!({ "target": value_of("target")[0], "program": value_of("program")[0] });
    assert_eq!(value_of("request"), ["attach"]);

    let (mut last, mut attaching, mut seen) = (json!(null), None, Vec::new());
    for line in names.meant(&page.block("dap")).lines() {
        let (sign, rest) = line.split_once(' ').unwrap();
        seen.push(line.to_owned());
        let (name, value) = match sign {
            "=" | "!" => ("", rest),
            _ => rest.split_once(' ').unwrap(),
        };
        let value: Value = serde_json::from_str(value).unwrap_or(json!(value));
        match sign {
            ">" => {
                let asked = adapter.ask(name, &value);
                if name == "attach" {
                    // It is answered when all is configured.
                    assert_eq!(value, attach, "the page says two things");
                    attaching = Some(asked);
                } else {
                    last = adapter.response(asked);
                }
                if let ("configurationDone", Some(asked)) = (name, attaching) {
                    let attached = adapter.response(asked);
                    assert_eq!(attached["success"], true, "{attached}");
                }
            }
            "=" => assert!(holds(&last["body"], &value), "{last}\n{seen:#?}"),
            "!" => assert_eq!((&last["success"], &last["message"]), (&json!(false), &value), "{seen:#?}"),
            "<" => {
                let event = adapter.event(name);
                assert!(holds(&event["body"], &value), "{event}\n{seen:#?}");
            }
            _ => panic!("{line}"),
        }
    }
    assert!(wait(&mut adapter.gdb, DEADLINE).is_some());
}
