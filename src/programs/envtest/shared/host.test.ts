import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { eventually } from "../../../../test/support/time.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { DrivenTimers } from "./host.suite.ts";
import { type HostOptions, runHost } from "./host.ts";
import { type LauncherOptions, runInHost } from "./launcher.ts";
import type { PlaneRequest } from "./messages.ts";

const request = (...args: string[]): PlaneRequest => ({ args, cwd: "/", controllers: undefined, nodes: undefined });

suite("the process shared by suites", () => {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-host-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** A host that records events, and ends when `timers` let its idle time pass. */
  const begin = (name: string, start: HostOptions["start"]) => {
    const address = path.join(folder, name);
    const timers = new DrivenTimers();
    const ended = runHost({ address, start, clock: { ...systemClock, setTimer: timers.set }, idleMs: 1000 });
    const launch = (options: Partial<LauncherOptions> & Pick<LauncherOptions, "request" | "stopped">) =>
      runInHost({
        address,
        startHost: () => {},
        voice: { out: () => {}, err: () => {} },
        clock: systemClock,
        ...options,
      });
    return { address, timers, ended, launch };
  };

  test("listens on a socket that only its user can open, whatever the umask is", async () => {
    const before = process.umask(0);
    const { address, timers, ended } = begin("private", async () => 0);
    try {
      await eventually(() =>
        stat(address).then(
          () => true,
          () => false,
        ),
      );
      assert.equal((await stat(address)).mode & 0o777, 0o600);
    } finally {
      process.umask(before);
    }
    await timers.pass();
    await ended;
  });

  test("runs a control plane as long as its launcher, which prints its output", async () => {
    const printed: string[] = [];
    const { launch, timers, ended } = begin("a", async ({ args }, voice) => {
      voice.out(`started ${args.join(" ")}`);
      return { close: async () => voice.err("closed") };
    });
    const started = Promise.withResolvers<void>();
    const stop = Promise.withResolvers<void>();
    const voice = {
      out: (text: string) => {
        printed.push(text);
        started.resolve();
      },
      err: (text: string) => printed.push(text),
    };
    const code = launch({ request: request("--v=1"), voice, stopped: stop.promise });
    await started.promise;
    assert.equal(timers.waiting, 0, "it does not end while it is in use");
    stop.resolve();
    assert.equal(await code, 0);
    assert.deepEqual(printed, ["started --v=1", "closed"]);
    await timers.pass();
    await ended;
  });

  test("ends only the launcher whose control plane cannot start", async () => {
    const { launch, timers, ended } = begin("b", async ({ args: [what] }) => {
      if (what === "broken") throw new Error("no port");
      return what === "help" ? 0 : { close: async () => {} };
    });
    const lines: string[] = [];
    const voice = { out: () => {}, err: (text: string) => void lines.push(text) };
    const never = new Promise(() => {});
    assert.equal(await launch({ request: request("broken"), voice, stopped: never }), 1);
    assert.deepEqual(lines, ["kube-apiserver: no port\n"]);
    assert.equal(await launch({ request: request("help"), stopped: never }), 0);
    await timers.pass();
    await ended;
  });

  test("ends the control plane of a killed launcher; a connection without a request has none", async () => {
    const closed = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    const { address, timers, ended } = begin("c", async () => {
      opened.resolve();
      return { close: async () => closed.resolve() };
    });
    const reached = async () => {
      for (;;) {
        const socket = connect(address);
        const isThere = await new Promise<boolean>((resolve) => {
          socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
        });
        if (isThere) return socket;
      }
    };
    const stranger = await reached();
    stranger.on("error", () => {}).write("x".repeat(3_000_000));
    await new Promise((resolve) => stranger.once("close", resolve));
    const killed = await reached();
    killed.write(`${JSON.stringify(request())}\n`);
    await opened.promise;
    killed.destroy();
    await closed.promise;
    await timers.pass();
    await ended;
  });

  test("ends at once if another one is running", async () => {
    const { address, timers, ended, launch } = begin("d", async () => ({ close: async () => {} }));
    assert.equal(await launch({ request: request(), stopped: Promise.resolve() }), 0);
    const start = () => assert.fail("the second host must not start a control plane");
    await runHost({ address, start, clock: systemClock, idleMs: 1000 });
    assert.equal(await launch({ request: request(), stopped: Promise.resolve() }), 0);
    await timers.pass();
    await ended;
  });
});
