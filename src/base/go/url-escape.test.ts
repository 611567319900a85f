import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeQuery, escapePath, joinPath } from "./url-escape.ts";

// Output of go1.26.
test("encodes paths and queries like Go", () => {
  assert.equal(escapePath("/a b/ü/?#[]!*'()~$&+,:;=@%"), "/a%20b/%C3%BC/%3F%23%5B%5D%21%2A%27%28%29~$&+,:;=@%25");
  const parameters = [
    ["input", "1"],
    ["command", "sh -c"],
    ["command", "a&b=~*\n"],
  ] as const;
  assert.equal(encodeQuery(parameters), "command=sh+-c&command=a%26b%3D~%2A%0A&input=1");
});

test("joins paths like JoinPreservingTrailingSlash", () => {
  const rows: readonly (readonly [elements: readonly string[], joined: string])[] = [
    [["", ""], ""],
    [["", "/"], "/"],
    [["", "/a//b/"], "/a/b/"],
    [["", "/a/../../b"], "/b"],
    [["/x/", "a/./b"], "/x/a/b"],
    [["/x", "/"], "/x/"],
  ];
  for (const [elements, joined] of rows) assert.equal(joinPath(...elements), joined);
});
