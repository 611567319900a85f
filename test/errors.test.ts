import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import * as errors from "../src/base/api/api-error.ts";

const root = path.join(import.meta.dirname, "..");

/** One error of each function, called with something that fits. */
const samples: Readonly<Record<string, () => errors.ApiError>> = {
  notFound: () => errors.notFound({ group: "", resource: "things" }, "one"),
  unknownPath: () => errors.unknownPath(),
  alreadyExists: () => errors.alreadyExists({ group: "", resource: "things" }, "one"),
  generatedNameTaken: () => errors.generatedNameTaken({ group: "", resource: "things" }, "one"),
  conflict: () => errors.conflict({ group: "", resource: "things" }, "one", errors.MODIFIED),
  ownedByOthers: () => errors.ownedByOthers("text", []),
  invalid: () => errors.invalid({ group: "", kind: "Thing" }, "one", []),
  invalidOptions: () => errors.invalidOptions("CreateOptions", []),
  unprocessable: () => errors.unprocessable(),
  badRequest: () => errors.badRequest("text"),
  unauthorized: () => errors.unauthorized(),
  forbidden: () => errors.forbidden({ group: "", resource: "things" }, "one", "text"),
  refusedByPolicy: () => errors.refusedByPolicy(samples.forbidden?.() as errors.ApiError, "Invalid", "text"),
  mutationRefused: () => errors.mutationRefused(samples.forbidden?.() as errors.ApiError, undefined, ["text"]),
  methodNotAllowed: () => errors.methodNotAllowed(),
  unsupportedVerb: () => errors.unsupportedVerb({ group: "", resource: "things" }, "watch"),
  notAcceptable: () => errors.notAcceptable("text"),
  expired: () => errors.expired("text"),
  requestEntityTooLarge: () => errors.requestEntityTooLarge("text"),
  unsupportedMediaType: () => errors.unsupportedMediaType("text"),
  tooManyRequests: () => errors.tooManyRequests("text", 1),
  internalError: () => errors.internalError("text"),
  plainError: () => errors.plainError(500, "text"),
  receivedError: () => errors.receivedError(500, errors.plainError(500, "text").status),
  statusError: () => errors.statusError(500, { message: "text" }),
  serverTimeout: () => errors.serverTimeout({ group: "", resource: "things" }, "get"),
  serviceUnavailable: () => errors.serviceUnavailable("text"),
  timeout: () => errors.timeout("text"),
  futureVersion: () => errors.futureVersion(2, 1),
};

/** `reason code function`, as the table has them. */
function documented(): string[] {
  const text = readFileSync(path.join(root, "docs", "internals", "errors.md"), "utf8");
  const rows = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| reason"));
  return rows.map((row) => {
    const [reason = "", code = "", maker = ""] = row
      .split("|")
      .slice(1)
      .map((cell) => cell.trim().replaceAll("`", ""));
    return `${reason} ${code} ${maker}`;
  });
}

test("docs/internals/errors.md lists every function that makes an error, with its reason and code, and nothing else", () => {
  const makers = Object.entries(errors)
    .filter(([, value]) => typeof value === "function" && value !== errors.ApiError)
    .map(([name]) => name);
  assert.deepEqual(makers.toSorted(), Object.keys(samples).toSorted());
  const made = Object.entries(samples).map(([name, make]) => {
    const { status, code } = make();
    return status.reason === undefined ? `– any ${name}` : `${status.reason} ${code} ${name}`;
  });
  assert.deepEqual(documented().toSorted(), made.toSorted());
});

test("an error is made in src/base/api/api-error.ts and nowhere else", () => {
  const source = path.join(root, "src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && file !== path.join("base", "api", "api-error.ts"),
  );
  const others = files.filter((file) => /new ApiError\(/.test(readFileSync(path.join(source, file), "utf8")));
  assert.deepEqual(others, []);
});
