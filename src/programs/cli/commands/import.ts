import { type Command, Option } from "commander";
import { systemClock } from "../../../base/util/clock.ts";
import { defaultConfig } from "../../server/config.ts";
import { importState } from "../../transfer/import-state.ts";
import { type Example, Failure, type Io } from "../command.ts";
import { repeated } from "../flags/declared-flags.ts";
import { addStoreFlags, type StoreFlags, storedStoreOf } from "../flags/store-flags.ts";

interface ImportFlags extends StoreFlags {
  readonly filename: string[];
  readonly resourceVersions?: "keep" | "new";
  readonly ignoreUnknown?: boolean;
}

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Write a dump into a SQLite store", "binnacle import -f dump.yaml --store sqlite:objects.db"],
  ["Write an etcd snapshot into a SQLite store", "binnacle import -f snapshot.db --store sqlite:objects.db"],
  [
    "Write a dump into etcd, for Binnacle or kube-apiserver",
    "binnacle import -f dump.yaml --etcd-servers http://127.0.0.1:2379",
  ],
];

/** Adds the flags that name the dump and the store. */
export function configure(command: Command, io: Io): void {
  command
    .requiredOption(
      "-f, --filename <file>",
      "YAML, JSON, an etcd snapshot, a folder, or - for standard input; may be repeated",
      repeated,
    )
    .addOption(
      new Option(
        "--resource-versions <which>",
        "keep: resource versions of the dump, only in a new SQLite file; new: assigned by the store (default: keep for SQLite, new for etcd)",
      ).choices(["keep", "new"]),
    )
    .option("--ignore-unknown", "skip objects whose kind is unknown (no CustomResourceDefinition in the dump)");
  addStoreFlags(command, "URLs of the etcd cluster to import into").action((flags: ImportFlags) => run(flags, io));
}

async function run(flags: ImportFlags, io: Io): Promise<void> {
  const store = storedStoreOf(flags);
  if (!store) throw new Failure("no store to import to", "Set --store sqlite:FILE or --etcd-servers URL.");
  const { filename: files, etcdPrefix = defaultConfig.etcdPrefix, ignoreUnknown: ignoresUnknown = false } = flags;
  const resourceVersions = flags.resourceVersions ?? (store.type === "etcd" ? "new" : "keep");
  const config = { ...defaultConfig, etcdPrefix };
  const { count, revision } = await importState({
    ...{ files, store, config, resourceVersions, ignoresUnknown },
    clock: systemClock,
  });
  const versions =
    resourceVersions === "keep" ? `with their resource versions, up to ${revision}` : "with new resource versions";
  io.print(`Imported ${count} objects ${versions}.\n`);
}
