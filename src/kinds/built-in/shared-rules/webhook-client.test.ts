import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGoUrl } from "../../../base/go/go-url.ts";
import { webhookUrlErrors } from "./webhook-client.ts";

test("parses URLs like kube-apiserver", () => {
  const rows: [text: string, expected: string][] = [
    ["https://u:p@host:1/x?q#f", "https host:1 u:p q f"],
    ["HTTPS://host", "https host - - -"],
    ["host/path", "- - - - -"],
    ["//host", "- host - - -"],
    ["mailto:x", "mailto - - - -"],
    [":x", 'parse ":x": missing protocol scheme'],
    ["a_b:c", 'parse "a_b:c": first path segment in URL cannot contain colon'],
    ["https://h:x/", 'parse "https://h:x/": invalid port ":x" after host'],
    ["https://a b/", 'parse "https://a b/": invalid character " " in host name'],
    ["https://h/%zz", 'parse "https://h/%zz": invalid URL escape "%zz"'],
    ["https://[::1", "parse \"https://[::1\": missing ']' in host"],
  ];
  for (const [text, expected] of rows) {
    let actual: string;
    try {
      const { scheme, host, user = "", query, fragment } = parseGoUrl(text);
      actual = [scheme, host, user, query, fragment].map((part) => part || "-").join(" ");
    } catch (error) {
      actual = (error as Error).message;
    }
    assert.equal(actual, expected);
  }
});

test("accepts only plain https URLs", () => {
  const details = webhookUrlErrors("https://u@/?q#f", "url").map(({ message }) =>
    message.replace(/^[^:]*: "[^"]*": /, ""),
  );
  assert.deepEqual(details, [
    "host must be specified; desired format: https://host[/path]",
    "user information is not permitted in the URL",
    "fragments are not permitted in the URL",
    "query parameters are not permitted in the URL",
  ]);
});
