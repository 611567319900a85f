import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Command } from "commander";
import { completeFlags, completeOptions } from "../src/base/options/configuration.ts";
import { type ConfigOf, group, type OptionsOf, option } from "../src/base/options/option.ts";
import { count, duration } from "../src/base/options/value-types.ts";
import type { CommandRow } from "../src/programs/cli/command.ts";
import { configure as configureCompletion } from "../src/programs/cli/completion.ts";
import { flagsOf } from "../src/programs/cli/flags/declared-flags.ts";
import { addServeFlags } from "../src/programs/cli/flags/serve-flags.ts";
import { silentIo } from "../src/programs/cli/io.suite.ts";
import { checkOptions, libraryOptions, OptionsError } from "../src/programs/library/options.ts";
import { serverOptions, serverSections } from "../src/programs/server/options.ts";
import { flagsPage } from "../tools/reference/commands.ts";
import { configurationPage } from "../tools/reference/configuration.ts";

/** Declares two options, one of them in a group. Everything else in this file is derived. */
const added = {
  flightPlans: option("flight-plans", count, "how many flight plans are kept", { default: 7 }),
  flights: group({ timeoutMs: option("flight-timeout", duration, "time limit of a flight") }),
};

const options = { ...serverOptions, ...added };
const sections = [...serverSections, { heading: "Flights", options: added }];

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isEqual = <A, B>(same: Equal<A, B>): void => assert.ok(same);

suite("a declared option", () => {
  test("is a member of the types", () => {
    type Config = ConfigOf<typeof options>;
    isEqual<Config["flightPlans"], number>(true);
    isEqual<Config["flights"], { readonly timeoutMs?: number }>(true);
    isEqual<Config["securePort"], number>(true);
    isEqual<Config["advertiseAddress"], string | undefined>(true);
    isEqual<"etcdServers" extends keyof Config ? true : false, false>(true);
    type Options = OptionsOf<typeof options>;
    isEqual<Options["flightPlans"], number | undefined>(true);
    isEqual<Options["flights"], { readonly timeoutMs?: number } | undefined>(true);
    // @ts-expect-error: an option of another type.
    const wrong: Options = { flightPlans: "7" };
    // @ts-expect-error: an option that is not declared.
    const unknown: Options = { flightPlanes: 7 };
    assert.notDeepEqual(wrong, unknown);
  });

  test("has a default in the configuration", () => {
    assert.equal(completeOptions(options, {}).flightPlans, 7);
    assert.deepEqual(completeOptions(options, {}).flights, {});
    assert.equal(completeOptions(options, { flightPlans: 0 }).flightPlans, 0);
  });

  test("is a flag in --help", () => {
    const command = new Command("serve").exitOverride().configureOutput({ outputError: () => {} });
    addServeFlags(command, sections);
    const help = command.helpInformation();
    assert.match(help, /^Flights:\n {2}--flight-plans <count> +how many flight plans are kept\s+\(default: 7\)$/m);
    assert.match(help, /^ {2}--flight-timeout <duration> +time limit of a flight$/m);
    command.parse(["--flight-plans", "3", "--flight-timeout=2m"], { from: "user" });
    const config = completeFlags(options, flagsOf(command));
    assert.deepEqual([config.flightPlans, config.flights], [3, { timeoutMs: 120_000 }]);
    assert.throws(() => command.parse(["--flight-plans=x"], { from: "user" }), /expected a whole number/);
  });

  test("is checked by the library", () => {
    const check = (given: object) => checkOptions(given, { ...options, ...libraryOptions });
    check({ flightPlans: 3, flights: { timeoutMs: 1 } });
    const problems = [
      "flightPlans: expected a whole number, 0 or more, got -1",
      "flights.timeoutMs: expected milliseconds, 0 or more, got true",
      "flightPlan: no such option, did you mean flightPlans?",
    ];
    const given = { flightPlans: -1, flights: { timeoutMs: true }, flightPlan: 1 };
    assert.throws(
      () => check(given),
      (error) => {
        assert.ok(error instanceof OptionsError);
        assert.deepEqual(error.problems, problems);
        return true;
      },
    );
  });

  test("is completed by shells", async () => {
    const row: CommandRow = {
      ...{ name: "serve", summary: "", group: "" },
      load: async () => ({ examples: [], configure: (command) => addServeFlags(command, sections) }),
    };
    for (const [shell, word] of [
      ["bash", " --flight-plans "],
      ["fish", " -l flight-plans -d 'how many flight plans are kept"],
    ] as const) {
      const io = silentIo();
      const completion = new Command("completion");
      configureCompletion(completion, io, [row]);
      await completion.parseAsync([shell], { from: "user" });
      assert.ok(io.out().includes(word), shell);
    }
  });

  test("is in the reference", () => {
    const flags = flagsPage(sections);
    assert.ok(flags.includes("### Flights\n"));
    assert.ok(flags.includes("| `--flight-plans <count>` | `7` | how many flight plans are kept |"));
    const configuration = configurationPage(sections);
    assert.ok(
      configuration.includes("| `flightPlans` | `number` | `7` | how many flight plans are kept | `--flight-plans` |"),
    );
    assert.ok(
      configuration.includes("| `flights.timeoutMs` | `number` |  | time limit of a flight | `--flight-timeout` |"),
    );
  });
});
