import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeQuery, escapePath, joinPath } from "./url-escape.ts";

// What go1.26 prints.
test("paths and queries are encoded as Go encodes them", () => {
  assert.equal(escapePath("/a b/ü/?#[]!*'()~$&+,:;=@%"), "/a%20b/%C3%BC/%3F%23%5B%5D%21%2A%27%28%29~$&+,:;=@%25");
  const parameters = [
    ["input", "1"],
    ["command", "sh -c"],
    ["command", "a&b=~*\n"],
  ] as const;
  assert.equal(encodeQuery(parameters), "command=sh+-c&command=a%26b%3D~%2A%0A&input=1");
});

test("paths are joined as JoinPreservingTrailingSlash joins them", () => {
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
