import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { hint } from "./command.ts";
import { programName } from "./program-name.ts";

const cwd = "/home/me/shop";
const LOCAL = `${cwd}/node_modules/.bin/binnacle`;
const agent = (name: string) => ({
  npm_config_user_agent: `${name}/9.1.0 npm/? node/v24.15.0 linux x64`,
  PATH: "/usr/bin",
});

const starts: readonly (readonly [what: string, file: string, env: Record<string, string>, expected: string])[] = [
  ["npx with an installed package", LOCAL, agent("npm"), "npx binnacle"],
  ["npx without one", "/home/me/.npm/_npx/1f/node_modules/.bin/binnacle", agent("npm"), "npx binnacle"],
  ["npm run", LOCAL, { ...agent("npm"), npm_command: "run" }, "npx binnacle"],
  ["pnpm exec", `${cwd}/node_modules/binnacle/dist/cli.js`, agent("pnpm"), "pnpm exec binnacle"],
  ["pnpm dlx", "/home/me/.cache/pnpm/dlx/ab/1/node_modules/.bin/binnacle", agent("pnpm"), "pnpm dlx binnacle"],
  ["yarn", LOCAL, agent("yarn"), "yarn binnacle"],
  ["yarn dlx", "/tmp/xfs-1/dlx-22/node_modules/binnacle/dist/cli.js", agent("yarn"), "yarn dlx binnacle"],
  ["bunx", "/tmp/bunx-0-binnacle@latest/node_modules/.bin/binnacle", agent("bun"), "bunx binnacle"],
  ["a global installation", "/usr/bin/binnacle", { PATH: "/bin:/usr/bin" }, "binnacle"],
  ["its path", LOCAL, { PATH: "/usr/bin" }, "node_modules/.bin/binnacle"],
  ["a folder of PATH", LOCAL, { PATH: `/usr/bin:${cwd}/node_modules/.bin` }, "binnacle"],
  ["node with a file", `${cwd}/dist/cli.js`, { PATH: "/usr/bin" }, "node dist/cli.js"],
  ["node in an npm script", `${cwd}/src/cli.ts`, agent("npm"), "node src/cli.ts"],
  ["node with a file elsewhere", "/opt/my apps/cli.js", { PATH: "/usr/bin" }, 'node "/opt/my apps/cli.js"'],
  ["a shim of Windows or pnpm", `${cwd}/node_modules/binnacle/dist/cli.js`, { PATH: "/usr/bin" }, "npx binnacle"],
  ["a global shim", "/opt/pnpm/global/5/node_modules/binnacle/dist/cli.js", { PATH: "/usr/bin" }, "binnacle"],
];

suite("the program as the user would type it", () => {
  for (const [what, file, env, expected] of starts) {
    test(`after ${what}: ${expected}`, () => assert.equal(programName({ file, env, cwd }), expected));
  }

  test("replaces only commands in a text", () => {
    const text =
      "binnacle: not running in /srv/binnacle data. Start one: binnacle up --detach (binnacle serve). See: binnacle --help";
    const expected =
      "binnacle: not running in /srv/binnacle data. Start one: npx binnacle up --detach (npx binnacle serve). See: npx binnacle --help";
    assert.equal(hint(text, { program: "npx binnacle" }), expected);
  });
});
