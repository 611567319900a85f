import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";

const root = path.join(import.meta.dirname, "..");

/** Tracked files that contain credentials on purpose, and why that is safe. */
const FIXTURES: Readonly<Record<string, string>> = {
  "test/golden/scenarios/auth-identity.json": "a made-up token that the server must reject",
};

const MAX_BYTES = 8 * 1024 * 1024;

/** What a file must not contain, by the name that a failure shows. The value itself is never printed. */
const CREDENTIALS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["a private key", /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:\\r|\\n|\s)+[A-Za-z0-9+/=]{16}/],
  // "-----BEGIN " in base64. Certificates begin alike, so the text is decoded below.
  ["a private key in base64", /LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,}/g],
  ["a JSON Web Token", /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}/],
  [
    "a credential of a kubeconfig",
    /^\s*-?\s*["']?(?:client-key-data|token|password)["']?:\s*["']?[\w+/=.-]{20,}["']?\s*$/m,
  ],
  ["a file that is a token", /^[\w.~+/-]{20,200}=*\n?$/],
];

function credentialsIn(file: string, text: string): string[] {
  const found = CREDENTIALS.filter(([, pattern]) => {
    if (!pattern.global) return pattern.test(text);
    return [...text.matchAll(pattern)].some(([match]) => /PRIVATE KEY/.test(Buffer.from(match, "base64").toString()));
  }).map(([name]) => `${file}: ${name}`);
  return /(?:\.(?:key|p12|pfx|jks)|(?:^|\/)(?:admin-token|id_rsa|id_ecdsa|id_ed25519|kubeconfig))$/.test(file)
    ? [...found, `${file}: its name is that of a credential`]
    : found;
}

suite("tracked files", () => {
  test("contain no private key, token or kubeconfig credential, apart from listed fixtures", () => {
    const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" })
      .split("\0")
      .filter(Boolean);
    assert.ok(tracked.includes("package.json"), "git lists the files of this project");
    const found = tracked.flatMap((file) => {
      const info = statSync(path.join(root, file), { throwIfNoEntry: false });
      if (!info?.isFile() || info.size > MAX_BYTES) return [];
      return credentialsIn(file, readFileSync(path.join(root, file), "utf8"));
    });
    assert.deepEqual(
      found.filter((problem) => FIXTURES[problem.split(": ")[0] ?? ""] === undefined),
      [],
    );
    assert.deepEqual(
      Object.keys(FIXTURES).filter((file) => !found.some((problem) => problem.startsWith(`${file}: `))),
      [],
      "every listed fixture is there",
    );
  });
});

suite("the search for credentials", () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "sec1", format: "pem" }).toString();
  const jwt = [
    { alg: "RS256", kid: "a" },
    { sub: "system:admin", exp: 1 },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .concat("x".repeat(40))
    .join(".");
  const secrets: readonly (readonly [what: string, file: string, text: string])[] = [
    ["a PEM key", "binnacle-data/ca.pem", pem],
    ["a PEM key inside of JSON", "fixture.json", JSON.stringify({ key: pem })],
    [
      "a kubeconfig with a key",
      "config.yaml",
      `users:\n- user:\n    client-key-data: ${Buffer.from(pem).toString("base64")}\n`,
    ],
    ["a kubeconfig with a token", "config.yaml", `users:\n- user:\n    token: ${"ab12".repeat(8)}\n`],
    ["a JSON Web Token", "notes.md", `curl -H "Authorization: Bearer ${jwt}"`],
    ["a token file", "data/token.txt", `${"Ab1_".repeat(8)}\n`],
    ["a file named like a key", "data/server.key", ""],
  ];
  for (const [what, file, text] of secrets) {
    test(`finds ${what}`, () => assert.notDeepEqual(credentialsIn(file, text), []));
  }

  test("passes certificates, mentions of keys and short values", () => {
    const certificate = `-----BEGIN CERTIFICATE-----\n${"MIIB".repeat(20)}\n`;
    for (const text of [
      certificate,
      `certificate-authority-data: ${Buffer.from(certificate).toString("base64")}`,
      "A key begins with -----BEGIN PRIVATE KEY-----, without a passphrase",
      "token: abcdef.0123456789",
      "Two words\n",
    ]) {
      assert.deepEqual(credentialsIn("page.md", text), []);
    }
  });
});
