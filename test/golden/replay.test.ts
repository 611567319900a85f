import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { parseOptions } from "./lib/options.mjs";
import { type Report, runScenarios } from "./lib/run.mjs";

const get = (id: string, target: string) => ({ id, method: "GET", path: target, compare: "exact" });
const scenario = (name: string, steps: readonly object[], more = {}) => ({ name, area: "x", steps, ...more });

suite("replaying scenarios", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "binnacle-replay-"));
  let server: Server;
  let answer: RequestListener;

  before(async () => {
    server = createServer((request, response) => answer(request, response)).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    rmSync(directory, { recursive: true, force: true });
  });

  const replay = (...args: string[]): Promise<Report> => {
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return runScenarios(parseOptions(["--base", base, "--scenarios", directory, "--recorded", directory, ...args]));
  };
  const save = (name: string, value: object) =>
    writeFileSync(path.join(directory, `${name}.json`), JSON.stringify(value));
  const failures = (report: Report) =>
    report.scenarios.flatMap((s) => s.steps.filter((step) => !step.ok).map((step) => `${s.name}/${step.id}`));

  test("several at a time give the same result as one after the other, in the order of their names", async () => {
    let open = 0;
    let mostOpen = 0;
    const alone: number[] = [];
    answer = (request, response) => {
      open++;
      mostOpen = Math.max(mostOpen, open);
      if (request.url === "/alone") alone.push(open);
      setTimeout(() => {
        open--;
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ path: request.url }));
      }, 5);
    };
    const names = Array.from({ length: 10 }, (_, i) => `s${i}`);
    const recordings = mkdtempSync(path.join(directory, "recorded-"));
    for (const name of names) save(name, scenario(name, [get("one", `/${name}`), get("two", "/two")]));
    save("s5", scenario("s5", [get("one", "/alone")], { alone: true }));
    await replay("--record", recordings);
    assert.equal(mostOpen, 1);

    writeFileSync(
      path.join(recordings, "s3.json"),
      JSON.stringify({ steps: { one: { status: 200 }, two: { status: 404 } } }),
    );
    alone.length = 0;
    const sequential = await replay("--recorded", recordings);
    const concurrent = await replay("--recorded", recordings, "--jobs", "4");
    assert.ok(mostOpen > 1);
    assert.deepEqual(alone, [1, 1]);
    assert.deepEqual(failures(sequential), ["s3/one", "s3/two"]);
    assert.deepEqual(failures(concurrent), failures(sequential));
    assert.deepEqual(
      concurrent.scenarios.map((s) => s.name),
      names,
    );
    assert.equal(concurrent.passed, sequential.passed);
  });

  test("a port that the scenario names is compared, even if the server chooses the same one elsewhere", async () => {
    let allocated = 31000;
    answer = (request, response) => {
      response.setHeader("content-type", "application/json");
      const message = request.url === "/refused" ? "30100 is not allowed" : `has ${allocated}`;
      response.end(JSON.stringify({ nodePort: request.url === "/refused" ? undefined : allocated, message }));
    };
    const recordings = mkdtempSync(path.join(directory, "recorded-"));
    save("ports", scenario("ports", [get("allocated", "/x"), get("refused", "/refused")]));
    await replay("--only", "ports", "--record", recordings);
    for (allocated of [31000, 30555, 30100]) {
      assert.deepEqual(failures(await replay("--only", "ports", "--recorded", recordings)), []);
    }
  });

  test("steps inside a watch that never opens count as failed", async () => {
    answer = (request) => {
      if (request.url?.includes("watch")) request.socket.destroy();
    };
    const watch = { ...get("watch", "/watch"), watch: { events: 1 }, steps: [get("inside", "/x")] };
    save("watching", scenario("watching", [watch]));
    assert.deepEqual(failures(await replay("--only", "watching")), ["watching/watch", "watching/inside"]);
  });

  test("a server that does not answer fails a step after the timeout", async () => {
    answer = () => undefined;
    save("silent", scenario("silent", [get("one", "/x"), { ...get("two", "/x"), watch: { events: 1 } }]));
    assert.deepEqual(failures(await replay("--only", "silent", "--timeout", "0.05")), ["silent/one", "silent/two"]);
  });

  test("unknown options and missing values are refused", () => {
    assert.throws(() => parseOptions(["--nonsense"]), /unknown option --nonsense/);
    assert.throws(() => parseOptions(["--only"]), /--only needs a value/);
    assert.throws(() => parseOptions(["--jobs", "many"]), /--jobs needs a number/);
  });
});
