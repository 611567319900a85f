import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { createLocalJWKSet, jwtVerify } from "jose";
import { readAuthenticationConfiguration } from "../../src/access/authentication/oidc/configuration.ts";
import { validateConfiguration } from "../../src/access/authentication/oidc/validate-configuration.ts";
import { startBinnacle } from "../support/binnacle.ts";
import { needs, requireTool } from "../support/tools.ts";

const run = promisify(execFile);
const page = await readFile(path.join(import.meta.dirname, "..", "..", "docs", "authentication.md"), "utf8");
const block = (language: string): string =>
  new RegExp(`\`\`\`${language}\n([^\`]+)\`\`\``).exec(page)?.[1] ?? assert.fail(language);

test("the commands of docs/authentication.md create a user", needs("kubectl", "openssl"), async (t) => {
  const binnacle = await startBinnacle();
  t.after(() => binnacle.kill());
  const { directory, base: SERVER } = binnacle;
  const commands = block("sh").replaceAll("binnacle-data", directory).replaceAll("kubectl", requireTool("kubectl"));
  const { stdout } = await run("sh", ["-e", "-c", commands], {
    cwd: directory,
    env: { ...process.env, SERVER, HOME: directory, KUBECONFIG: "/dev/null" },
  });
  assert.match(stdout, /Username\s+alice\n/);
  assert.match(stdout, /Groups\s+\[dev system:authenticated\]/);
});

test("the commands of docs/authentication.md create a verifiable token", needs("kubectl"), async (t) => {
  const binnacle = await startBinnacle();
  t.after(() => binnacle.kill());
  const [, commands = assert.fail()] = /## Service account tokens\n\n```sh\n([^`]+)```/.exec(page) ?? [];
  const { stdout } = await run("sh", ["-e", "-c", commands.replaceAll("kubectl", requireTool("kubectl"))], {
    cwd: binnacle.directory,
    env: { ...process.env, HOME: binnacle.directory, KUBECONFIG: binnacle.kubeconfig },
  });
  // kubectl ends the line of a token on terminals only.
  const [, token = "", keys = ""] = /\n([^\n{]+)\n?(\{.+)/s.exec(stdout) ?? [];
  const { payload } = await jwtVerify(token, createLocalJWKSet(JSON.parse(keys)), { audience: "vault" });
  assert.equal(payload.sub, "system:serviceaccount:default:bot");
});

test("the configuration of docs/authentication.md is accepted", () => {
  const configuration = readAuthenticationConfiguration(block("yaml"));
  validateConfiguration(configuration, { disallowedIssuers: [] });
  assert.equal(configuration.jwt.length, 1);
});
