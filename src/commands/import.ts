import { type Command, Option } from "commander";
import { systemClock } from "../lib/clock.ts";
import { defaultConfig } from "../server/config.ts";
import { importState } from "../transfer/import-state.ts";
import { type Example, Failure, type Io } from "./command.ts";
import { repeated } from "./flag-values.ts";
import { addStoreFlags, type StoreFlags, storeOf } from "./store-flags.ts";

interface ImportFlags extends StoreFlags {
  readonly filename: string[];
  readonly resourceVersions?: "keep" | "new";
  readonly ignoreUnknown?: boolean;
}

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  [
    "A dump becomes a store, and a server has the objects of the cluster",
    "binnacle import -f dump.yaml --store sqlite:objects.db",
  ],
  ["The same from a snapshot of etcd", "binnacle import -f snapshot.db --store sqlite:objects.db"],
  [
    "Into an etcd, for binnacle or kube-apiserver to serve",
    "binnacle import -f dump.yaml --etcd-servers http://127.0.0.1:2379",
  ],
];

/** Adds the flags that name what goes where. */
export function configure(command: Command, io: Io): void {
  command
    .requiredOption("-f, --filename <file>", "YAML, JSON, an etcd snapshot, a folder, or -; may be repeated", repeated)
    .addOption(
      new Option(
        "--resource-versions <which>",
        "keep them, in a new file; or let the store count, as etcd always does",
      ).choices(["keep", "new"]),
    )
    .option("--ignore-unknown", "leave out objects of kinds that no CustomResourceDefinition of the dump defines");
  addStoreFlags(command).action((flags: ImportFlags) => run(flags, io));
}

async function run(flags: ImportFlags, io: Io): Promise<void> {
  const store = storeOf(flags);
  if (!store) throw new Failure("nothing says where to import to", "Give --store sqlite:FILE or --etcd-servers URL");
  const { filename: files, etcdPrefix, ignoreUnknown: ignoresUnknown = false } = flags;
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
