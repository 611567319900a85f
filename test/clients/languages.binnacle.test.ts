import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DEFAULT_CONTROLLERS } from "../../src/cluster/controllers/manager/default-controllers.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { OPTIONAL } from "../support/skipped.ts";
import { needs, wants } from "../support/tools.ts";
import { travel } from "./languages/journey.ts";
import { builtCommand, CLIENT_PROGRAMS, type ClientProgram, prepare } from "./languages/programs.ts";

/** Most of them take minutes to build, and fetch packages: those must have been built before. */
async function optionsOf(program: ClientProgram): Promise<{ readonly skip?: string }> {
  const { name, toolchain, isQuick } = program;
  if (isQuick) return needs(...toolchain);
  if (await builtCommand(program)) return wants(...toolchain);
  return { skip: `the program with ${name} ${OPTIONAL}: run npm run compare clients -- ${name}` };
}

const programs = await Promise.all(
  CLIENT_PROGRAMS.map(async (program) => ({ program, options: await optionsOf(program) })),
);

describe("clients of other languages", () => {
  let server: RunningBinnacle;
  before(async () => {
    server = await startBinnacle({ flags: [`--controllers=${DEFAULT_CONTROLLERS}`] });
  });
  after(() => server?.kill());

  for (const { program, options } of programs) {
    test(`a program with ${program.name} gets through all of its steps`, options, async () => {
      const { isComplete, steps, output } = await travel(await prepare(program), server.kubeconfig);
      assert.ok(isComplete && steps >= 10, `${steps} steps\n${output}`);
    });
  }
});
