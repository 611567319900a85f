import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Judgement } from "./judge.ts";
import { type Output, reporterFor } from "./report.ts";
import type { ReportOptions } from "./report-words.ts";

const about = (name: string) => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name, file: "m.yaml", line: 3 },
  warnings: [],
});
const made: Judgement = {
  ...about("new"),
  verdict: "created",
  diff: "--- live/x\n+++ merged/x\n@@ -0,0 +1 @@\n+a: 1\n",
};
const changed: Judgement = {
  ...about("old"),
  verdict: "changed",
  diff: "--- live/x\n+++ merged/x\n@@ -1 +1 @@\n-a: 1\n+a: 2\n",
};
const same: Judgement = { ...about("same"), verdict: "unchanged", diff: "" };
const denied: Judgement = {
  ...about("no"),
  verdict: "refused",
  diff: "",
  refusal: {
    ...{ code: 403, reason: "Forbidden", message: "exceeded <quota> for @team_a", causes: [] },
    rule: { type: "ResourceQuota", name: "few" },
  },
};

function print(output: Output, options: ReportOptions, judgements: readonly Judgement[]): string {
  const reporter = reporterFor(output, options);
  const pieces = judgements.map((one) => reporter.judgement(one));
  const count = (verdict: Judgement["verdict"]) => judgements.filter((one) => one.verdict === verdict).length;
  const [created, edited, unchanged, refused] = [
    count("created"),
    count("changed"),
    count("unchanged"),
    count("refused"),
  ];
  return [reporter.begin(), ...pieces, reporter.end({ created, changed: edited, unchanged, refused })].join("");
}

const all = [made, changed, same, denied];
const SUMMARY = "1 created, 1 changed, 1 unchanged, 1 denied";

suite("text", () => {
  test("begins with the summary and has one line per created object", () => {
    assert.equal(
      print("text", {}, all),
      `${SUMMARY}

ConfigMap shop/new would be created
ConfigMap shop/old would change
--- live/x
+++ merged/x
@@ -1 +1 @@
-a: 1
+a: 2
ConfigMap shop/no would be denied by ResourceQuota few
  in m.yaml, line 3
  exceeded <quota> for @team_a
`,
    );
    assert.equal(print("text", {}, [same]), "0 created, 0 changed, 1 unchanged, 0 denied\n");
  });

  test("shows the YAML of created objects with showsCreated", () => {
    assert.match(print("text", { showsCreated: true }, all), /\nConfigMap shop\/new would be created\n--- live\/x\n/);
  });

  test("shows only denied objects with isQuiet", () => {
    const text = print("text", { isQuiet: true }, all);
    assert.ok(text.startsWith("ConfigMap shop/no would be denied"), text);
    assert.equal(print("text", { isQuiet: true }, [made, changed, same]), "");
  });

  test("paints additions, removals and denials with hasColour", () => {
    const text = print("text", { hasColour: true }, all);
    assert.ok(text.includes("\u001b[31m-a: 1\u001b[0m\n\u001b[32m+a: 2\u001b[0m\n"), text);
    assert.ok(text.includes("\u001b[31mConfigMap shop/no would be denied by ResourceQuota few\u001b[0m"), text);
    assert.ok(!print("text", {}, all).includes("\u001b"));
  });

  test("replaces control characters of manifests", () => {
    const text = print("text", {}, [{ ...made, name: "a\u001b[2Jb\u009b" }]);
    assert.match(text, /shop\/a\ufffd\[2Jb\ufffd would be created/);
  });
});

suite("markdown", () => {
  test("has the summary, a list, and diffs to unfold", () => {
    assert.equal(
      print("markdown", {}, all),
      `**${SUMMARY}**

- ConfigMap shop/new would be created
- ConfigMap shop/old would change
- **ConfigMap shop/no would be denied by ResourceQuota few**
  - exceeded &lt;quota&gt; for @\u200bteam\\_a (m.yaml, line 3)

<details><summary>ConfigMap shop/old would change</summary>

\`\`\`diff
--- live/x
+++ merged/x
@@ -1 +1 @@
-a: 1
+a: 2
\`\`\`

</details>
`,
    );
  });

  test("fences a diff with backticks in it", () => {
    const text = print("markdown", {}, [{ ...changed, diff: "+a: ````\n" }]);
    assert.match(text, /\n`````diff\n\+a: ````\n`````\n/);
  });
});
