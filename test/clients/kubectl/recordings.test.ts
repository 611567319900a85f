import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { AREAS } from "./areas.ts";
import { nameOf, stepsOf } from "./cases.ts";
import { casesOf, differences } from "./compare.ts";
import { viewed, withoutMadeUp } from "./made-up.ts";
import { readRecording } from "./recordings.ts";
import { printTranscript, readTranscript } from "./transcript.ts";
import { fillIn, splitWords } from "./words.ts";

suite("recordings of the real server", () => {
  for (const area of AREAS)
    test(`have every step of ${area.name}`, async () => {
      const recording = await readRecording(area.name);
      const wanted = area.cases.map(({ title, steps }) => [title, [...stepsOf(steps)].map(nameOf)] as const);
      const found = [...recording].map(([title, answers]) => [title, answers.map(({ step }) => step)] as const);
      assert.deepEqual(found, wanted, "run `npm run compare kubectl -- --record` with this area");
    });

  test("are of 36 areas, whose cases have names of their own", () => {
    assert.equal(new Set(AREAS.map(({ name }) => name)).size, 36);
    for (const { name, cases } of AREAS)
      assert.equal(new Set(cases.map(({ title }) => title)).size, cases.length, `titles of ${name}`);
    assert.equal(new Set(casesOf(AREAS).map(({ namespace }) => namespace)).size, casesOf(AREAS).length);
  });
});

suite("transcripts", () => {
  const answers = [
    { step: "get pods\n'x'", code: 1, stdout: "a\n\nb", stderr: "# $ > !\n" },
    { step: "get", code: 0, stdout: "", stderr: "" },
  ];

  test("are read as they were written", () => {
    const transcript = new Map([
      ["one", answers],
      ["two", []],
    ]);
    assert.deepEqual(readTranscript(printTranscript(transcript)), transcript);
  });

  test("differ where an answer does, and where the steps are no longer those that were recorded", () => {
    const script = { title: "one", steps: answers.map(({ step }) => step) };
    assert.deepEqual(differences(script, answers, answers), []);
    const changed = answers.map((answer) => ({ ...answer, stderr: "" }));
    assert.equal(differences(script, answers, changed).length, 1);
    assert.match(differences({ ...script, steps: ["get nodes", "get"] }, answers, answers)[0] ?? "", /record again/);
    assert.equal(differences(script, answers, []).length, 2);
  });
});

suite("command lines", () => {
  test("are split at blanks, quotes aside", () => {
    assert.deepEqual(splitWords("get  pods -p '{\"a\": 1}' --x=\"it's\" ''"), [
      "get",
      "pods",
      "-p",
      '{"a": 1}',
      "--x=it's",
      "",
    ]);
    assert.throws(() => splitWords("get 'pods"), /no closing '/);
  });

  test("get the values that they name", () => {
    assert.equal(fillIn("get %{name} {{.x}}", new Map([["name", "web"]])), "get web {{.x}}");
    assert.throws(() => fillIn("%{other}", new Map()), /no %\{other\}/);
  });
});

suite("what is compared of an output", () => {
  test("has words for what a server makes up, and keeps the blanks of objects", () => {
    assert.equal(withoutMadeUp("NAME   AGE\nweb    12s\n"), "NAME  AGE\nweb  AGE\n");
    assert.equal(
      withoutMadeUp('apiVersion: v1\n    resourceVersion: "7"\n'),
      "apiVersion: v1\n    resourceVersion: VERSION\n",
    );
    assert.equal(withoutMadeUp("127.0.0.1:4321 2m5s"), "SERVER AGE");
  });

  test("is its lines in any order, its structure, or the requests in the log", () => {
    assert.equal(viewed("lines", "b\na\n"), "a\nb");
    assert.equal(
      viewed("structure", "KIND:       Pod\nDESCRIPTION:\n    text\n  spec\t<PodSpec>\n      more text\n"),
      "KIND:       Pod\nDESCRIPTION:\n  spec\t<PodSpec>\n",
    );
    const log =
      'LOG round_trippers.go:1] "Response" verb="GET" url="SERVER/api" status="200 OK" milliseconds=N\nother\n';
    assert.equal(viewed("requests", log), 'verb="GET" url="SERVER/api" status="200 OK"\n');
    assert.equal(viewed("code", "anything"), "");
  });
});
