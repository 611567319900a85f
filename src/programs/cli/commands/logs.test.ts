import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { runCommandLine } from "../command-line.ts";
import { silentIo } from "../io.suite.ts";

const record = (ageMs: number, level: number, msg: string, more: object = {}) => {
  const time = Date.now() - ageMs;
  return JSON.stringify({ level, time, pid: 1, hostname: "h", name: "binnacle", ...more, msg });
};
const HOUR = 3_600_000;
const LINES = [
  "Binnacle is serving https://127.0.0.1:1",
  record(2 * HOUR, 30, "old"),
  "Stopped.",
  record(0, 40, "event loop blocked", { ms: 115, path: "\u001b[2J" }),
  record(0, 30, "request", { method: "GET", code: 200, ms: 3, path: "/api", user: "me" }),
];

suite("binnacle logs", () => {
  let cwd: string;
  before(async () => {
    cwd = await mkdtemp(path.join(tmpdir(), "binnacle-logs-"));
    await mkdir(path.join(cwd, "binnacle-data"));
    await writeFile(path.join(cwd, "binnacle-data", "binnacle.log"), `${LINES.join("\n")}\n`);
  });
  after(() => rm(cwd, { recursive: true, force: true }));

  async function run(isTerminal: boolean, ...args: string[]) {
    const io = { ...silentIo({}, cwd), isTerminal };
    const code = await runCommandLine(["logs", ...args], io);
    return { code, out: io.out(), err: io.err() };
  }

  test("prints the lines unchanged if the output is no terminal", async () => {
    assert.equal((await run(false)).out, `${LINES.join("\n")}\n`);
  });

  test("prints time, level, message and fields on a terminal, or with -o text", async () => {
    const stamp = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;
    const expected = new RegExp(
      [
        "^Binnacle is serving https://127.0.0.1:1",
        `${stamp} info  old`,
        "Stopped.",
        String.raw`${stamp} warn  event loop blocked ms=115 path="\\\\u\{1b\}\[2J"`,
        `${stamp} GET    200     3 ms /api by me\n$`,
      ].join("\n"),
    );
    assert.match((await run(true, "--color", "never")).out, expected);
    assert.match((await run(false, "-o", "text")).out, expected);
    assert.ok((await run(true)).out.includes("\u001b[33mwarn "));
  });

  test("prints one JSON value per line with -o json, also on a terminal", async () => {
    const { out } = await run(true, "-o", "json");
    const values = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).msg);
    assert.deepEqual(values, [LINES[0], "old", "Stopped.", "event loop blocked", "request"]);
  });

  test("prints the last lines with --tail, and recent ones with --since", async () => {
    const lines = (...at: number[]) => at.map((one) => `${LINES[one]}\n`).join("");
    assert.equal((await run(false, "--tail", "2")).out, lines(3, 4));
    assert.equal((await run(false, "--tail", "0")).out, "");
    assert.equal((await run(false, "--since", "1h")).out, lines(3, 4));
    assert.equal((await run(false, "--since", "3h")).out, lines(0, 1, 2, 3, 4));
    assert.equal((await run(false, "--since", "1h30m", "--tail", "1")).out, lines(4));
    assert.match((await run(false, "--since", "yesterday")).err, /^binnacle: --since=yesterday: expected a duration/);
    assert.match((await run(false, "--tail", "-1")).err, /^binnacle: --tail/);
  });
});
