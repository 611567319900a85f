import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { subjects, suiteOfEveryKind } from "./every-kind.ts";

test("the suite covers the kinds", () => assert.ok(subjects.length > 90, `${subjects.length} kinds in versions`));

suiteOfEveryKind("memory", async () => ({ type: "memory" }));
suiteOfEveryKind("sqlite", async (directory) => ({ type: "sqlite", file: path.join(directory, "store.db") }));
