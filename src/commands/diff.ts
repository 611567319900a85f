import { type Command, Option } from "commander";
import { type FeatureGateValues, parseFeatureGates } from "../api/feature-gates.ts";
import { getMember } from "../lib/members.ts";
import { defaultConfig } from "../server/config.ts";
import type { ApplyOptions } from "../what-if/judge.ts";
import { printDiff } from "../what-if/print-diff.ts";
import { OUTPUTS, type Output } from "../what-if/report.ts";
import { whatIf } from "../what-if/what-if.ts";
import type { Example, Io } from "./command.ts";
import { keyPrefix, repeated, words } from "./flag-values.ts";

interface DiffFlags {
  readonly filename: string[];
  readonly recursive?: boolean;
  readonly state?: string[];
  readonly crds?: string[];
  readonly namespace?: string;
  readonly fieldManager: string;
  readonly forceConflicts?: boolean;
  readonly validate: string;
  readonly as?: string;
  readonly asGroup?: string[];
  readonly asUid?: string;
  readonly isolated?: boolean;
  readonly showManagedFields?: boolean;
  readonly output: Output;
  readonly controllers?: string;
  readonly enableAdmissionPlugins?: string[];
  readonly disableAdmissionPlugins?: string[];
  readonly featureGates: FeatureGateValues;
  readonly etcdPrefix: string;
}

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  [
    "What a folder of manifests would change in a cluster, told from its dump",
    "binnacle diff -f manifests/ --state dump.yaml",
  ],
  ["The same from a snapshot of its etcd", "binnacle diff -f manifests/ --state snapshot.db"],
  [
    "May the account of the pipeline do that? As a report for CI",
    "binnacle diff -f manifests/ --state dump.yaml --as system:serviceaccount:ci:deploy -o junit",
  ],
  ["A dump that has all it needs", "binnacle export --kubeconfig ~/.kube/config > dump.yaml"],
];

/** Compat: the values of kubectl's `--validate`. */
const VALIDATIONS: Readonly<Record<string, ApplyOptions["validate"]>> = {
  strict: "Strict",
  true: "Strict",
  warn: "Warn",
  ignore: "Ignore",
  false: "Ignore",
};

/** Adds the flags, which are named as those of `kubectl diff` and `kubectl apply --server-side`. */
export function configure(command: Command, io: Io): void {
  command
    .requiredOption("-f, --filename <file>", "a manifest, a folder of manifests, or -; may be repeated", repeated)
    .option("-R, --recursive", "also the folders in folders")
    .option(
      "--state <file>",
      "a dump of the cluster: YAML, JSON, an etcd snapshot, or a folder; may be repeated",
      repeated,
    )
    .option("--crds <file>", "CustomResourceDefinitions that the dump has not; may be repeated", repeated)
    .option(
      "-n, --namespace <namespace>",
      "where objects go that name no namespace, and the only one that others may name",
    )
    .option("--field-manager <name>", "whose the fields of the manifests are", "kubectl")
    .option("--force-conflicts", "take over fields that others own")
    .addOption(
      new Option("--validate <how>", "what becomes of unknown fields")
        .choices(Object.keys(VALIDATIONS))
        .default("strict"),
    )
    .option("--as <user>", "who applies the manifests; an administrator without it")
    .option("--as-group <group>", "a group of that user; may be repeated", repeated)
    .option("--as-uid <uid>", "the uid of that user")
    .option("--isolated", "judge every object by the dump alone, as --dry-run=server does, and not by those before it")
    .option("--show-managed-fields", "compare managed fields, too")
    .addOption(new Option("-o, --output <form>", "how it is told").choices([...OUTPUTS]).default("text"))
    .option("--controllers <list>", "loops of a controller manager that act between two objects")
    .addOption(
      new Option("--enable-admission-plugins <names>", "as the cluster's kube-apiserver has it").argParser(words),
    )
    .addOption(
      new Option("--disable-admission-plugins <names>", "as the cluster's kube-apiserver has it").argParser(words),
    )
    .addOption(
      new Option("--feature-gates <name=value,…>", "as the cluster's kube-apiserver has them")
        .argParser(parseFeatureGates)
        .default({}, "every gate at its default"),
    )
    .addOption(
      new Option("--etcd-prefix <prefix>", "prefix of all keys in a snapshot")
        .argParser(keyPrefix)
        .default(defaultConfig.etcdPrefix),
    )
    .addHelpText(
      "after",
      "\nEnds with 0 when nothing would change, 1 when something would, 2 when something would be refused, 3 when it could not be found out.",
    )
    .action(async (flags: DiffFlags) => {
      io.exitCode = await run(flags, io);
    });
}

async function run(flags: DiffFlags, io: Io): Promise<number> {
  const { filename, recursive = false, state = [], crds = [], output, controllers, featureGates, etcdPrefix } = flags;
  const { enableAdmissionPlugins: enabled, disableAdmissionPlugins: disabled } = flags;
  const judgements = whatIf({
    files: filename,
    isRecursive: recursive,
    state,
    crds,
    apply: applyOptions(flags),
    config: {
      featureGates,
      etcdPrefix,
      ...(controllers !== undefined && { controllers }),
      admissionPlugins: { ...(enabled && { enabled }), ...(disabled && { disabled }) },
    },
    warn: (text) => io.complain(`binnacle: ${text}\n`),
  });
  return printDiff(judgements, output, (text) => io.print(text));
}

function applyOptions(flags: DiffFlags): Partial<ApplyOptions> {
  const { as: user, asGroup = [], asUid: uid, namespace } = flags;
  return {
    fieldManager: flags.fieldManager,
    forceConflicts: flags.forceConflicts ?? false,
    validate: getMember(VALIDATIONS, flags.validate) ?? "Strict",
    isIsolated: flags.isolated ?? false,
    showManagedFields: flags.showManagedFields ?? false,
    ...(namespace !== undefined && { namespace }),
    ...(user !== undefined && { as: { user, groups: asGroup, ...(uid !== undefined && { uid }) } }),
  };
}
