import { type Command, Option } from "commander";
import { type GivenOf, group } from "../../../base/options/option.ts";
import { getMember } from "../../../base/util/members.ts";
import { serverOptions } from "../../server/options.ts";
import { DIFF_CONTROLLERS } from "../../what-if/imagined-cluster.ts";
import type { ApplyOptions } from "../../what-if/judge.ts";
import { EXIT_CODES, printDiff } from "../../what-if/print-diff.ts";
import { OUTPUTS, type Output, reporterFor } from "../../what-if/report.ts";
import { whatIf } from "../../what-if/what-if.ts";
import { type ColourChoice, colourFlag, hasColour } from "../colour.ts";
import { type Example, Failure, type Io } from "../command.ts";
import { addFlags, flagsOf, repeated } from "../flags/declared-flags.ts";
import { buildKustomization } from "../kustomize.ts";

interface DiffFlags extends GivenOf<typeof clusterOptions> {
  readonly filename?: string[];
  readonly kustomize?: string;
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
  readonly quiet?: boolean;
  readonly showCreated?: boolean;
  readonly color: ColourChoice;
  readonly strict?: boolean;
}

const { admissionPlugins, controllers, etcdPrefix, featureGates } = serverOptions;
const { enabled, disabled } = admissionPlugins.members;
const asCluster = (flag: string) => `the --${flag} of the cluster's kube-apiserver`;

/** Options of the server that stands for the cluster. */
const clusterOptions = {
  controllers: {
    ...controllers,
    help: "controllers to run after each object",
    default: undefined,
    shownDefault: DIFF_CONTROLLERS,
  },
  admissionPlugins: group({
    enabled: { ...enabled, help: asCluster("enable-admission-plugins") },
    disabled: { ...disabled, help: asCluster("disable-admission-plugins") },
  }),
  featureGates: { ...featureGates, help: asCluster("feature-gates") },
  etcdPrefix: { ...etcdPrefix, help: "prefix of all keys in an etcd snapshot" },
};

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Show what a folder of manifests would change in a cluster", "binnacle diff -f manifests/ --state dump.yaml"],
  ["Use an etcd snapshot as the cluster state", "binnacle diff -f manifests/ --state snapshot.db"],
  ["Build a kustomization and compare it", "binnacle diff -k overlays/production --state dump.yaml"],
  ["Write a comment for a pull request", "binnacle diff -f manifests/ --state dump.yaml -o markdown > comment.md"],
  [
    "Check the permissions of the pipeline's account; write a JUnit report",
    "binnacle diff -f manifests/ --state dump.yaml --as system:serviceaccount:ci:deploy -o junit",
  ],
  ["Create a complete dump", "binnacle export --kubeconfig ~/.kube/config > dump.yaml"],
];

/** Compat: the values of kubectl's `--validate`. */
const VALIDATIONS: Readonly<Record<string, ApplyOptions["validate"]>> = {
  strict: "Strict",
  true: "Strict",
  warn: "Warn",
  ignore: "Ignore",
  false: "Ignore",
};

/** Adds the flags. Their names are those of `kubectl diff` and `kubectl apply --server-side`. */
export function configure(command: Command, io: Io): void {
  command
    .option(
      "-f, --filename <file>",
      "manifest, folder of manifests, or - for standard input; may be repeated",
      repeated,
    )
    .option("-k, --kustomize <folder>", "folder with a kustomization.yaml; needs kubectl or kustomize to build it")
    .option("-R, --recursive", "read subfolders, too")
    .option(
      "--state <file>",
      "dump of the cluster: YAML, JSON, an etcd snapshot, or a folder; may be repeated (default: a new cluster)",
      repeated,
    )
    .option("--crds <file>", "CustomResourceDefinitions that the dump lacks; may be repeated", repeated)
    .option("-n, --namespace <namespace>", "namespace of objects without one; objects in other namespaces are rejected")
    .option("--field-manager <name>", "field manager name", "kubectl")
    .option("--force-conflicts", "take over fields of other field managers")
    .addOption(
      new Option("--validate <mode>", "unknown fields: strict or true rejects, warn warns, ignore or false ignores")
        .choices(Object.keys(VALIDATIONS))
        .default("strict"),
    )
    .option("--as <user>", "user who applies the manifests (default: an administrator)")
    .option("--as-group <group>", "group of the user; may be repeated", repeated)
    .option("--as-uid <uid>", "UID of the user")
    .option(
      "--isolated",
      "apply each object to the dump alone, without the objects before it, as --dry-run=server does",
    )
    .option("--show-managed-fields", "show changes of managed fields, too")
    .option("--show-created", "print the YAML of objects that would be created, not only their names")
    .option("-q, --quiet", "print only objects that would be denied (text and markdown)")
    .option("--strict", "fail if something could not be checked: webhooks, quotas, objects of unknown kinds")
    .addOption(colourFlag())
    .addOption(new Option("-o, --output <format>", "output format").choices([...OUTPUTS]).default("text"));
  addFlags(command, clusterOptions)
    .addHelpText(
      "after",
      "\nExit codes: 0 if nothing would change, 1 if something would change, 2 if something would be denied, 3 if an error occurred or, with --strict, something could not be checked.",
    )
    .action(async () => {
      io.exitCode = await run(flagsOf(command), io);
    });
}

async function run(flags: DiffFlags, io: Io): Promise<number> {
  const { filename = [], kustomize, recursive = false, state = [], crds = [], output } = flags;
  if (filename.length === 0 && kustomize === undefined) {
    throw new Failure("flag --filename or --kustomize is required", "See: binnacle diff --help");
  }
  const built = kustomize === undefined ? [] : [await buildKustomization(kustomize, io)];
  let warnings = 0;
  const judgements = whatIf({
    files: filename,
    built,
    isRecursive: recursive,
    state,
    crds,
    apply: applyOptions(flags),
    config: {
      controllers: flags.controllers,
      admissionPlugins: flags.admissionPlugins,
      featureGates: flags.featureGates,
      etcdPrefix: flags.etcdPrefix,
    },
    warn: (text) => {
      warnings++;
      io.complain(`binnacle: warning: ${text}\n`);
    },
  });
  const reporter = reporterFor(output, {
    isQuiet: flags.quiet,
    showsCreated: flags.showCreated,
    hasColour: hasColour(flags.color, io),
  });
  const code = await printDiff(judgements, reporter, (text) => io.print(text));
  if (!flags.strict || warnings === 0) return code;
  io.complain("binnacle: something could not be checked: see the warnings (--strict)\n");
  return EXIT_CODES.failed;
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
