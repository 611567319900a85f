import { PLUGIN_TABLE, UNAVAILABLE_PLUGINS } from "../../src/access/admission/plugins/plugin-table.ts";
import { RUNNABLE_CONTROLLERS } from "../../src/cluster/controllers/manager/all.ts";
import { MANAGER_CONTROLLERS } from "../../src/cluster/controllers/manager/manager-controllers.ts";
import { code, head, table } from "./markdown.ts";

/** The text of docs/reference/controllers.md. */
export function controllersPage(): string {
  const own = new Set(RUNNABLE_CONTROLLERS.map(({ name }) => name));
  const rows = (isOwn: boolean) =>
    MANAGER_CONTROLLERS.filter(({ name }) => own.has(name) === isOwn).map(({ name, does, without = "" }) => [
      code(name),
      does,
      without,
    ]);
  const columns = ["controller", "what it does", "without it"];
  return [
    head(
      "Controllers",
      "The loops of kube-controller-manager 1.37, as `binnacle controllers` lists them. What every kube-apiserver does by itself, such as keeping the Service `kubernetes` and the system roles, always happens.",
    ),
    "## Inside of the server",
    "",
    "`--controllers` picks among them: `*` (the default), `none`, or names; `-NAME` leaves one out.",
    "",
    table(columns, rows(true)),
    "## Only where the real kube-controller-manager runs beside it",
    "",
    "Start it with the kubeconfig that Binnacle writes, and Binnacle with `--controllers none`. There is no scheduler and no kubelet either: Pods stay Pending.",
    "",
    table(columns, rows(false)),
  ].join("\n");
}

/** The text of docs/reference/admission-plugins.md. */
export function pluginsPage(): string {
  return [
    head(
      "Admission plugins",
      "As `binnacle plugins` lists them. [admission.md](../admission.md) is about policies, webhooks and functions of your own.",
    ),
    "## On by default",
    "",
    "In this order, whatever the order of flags. `--disable-admission-plugins` leaves some out. NodeRestriction is off by default in kube-apiserver.",
    "",
    table(
      ["plugin", "what it does"],
      PLUGIN_TABLE.map(({ name, does }) => [code(name), does]),
    ),
    "## Not there yet",
    "",
    "kube-apiserver 1.37 has them, all off by default. `--enable-admission-plugins` with one of them is refused.",
    "",
    `${UNAVAILABLE_PLUGINS.map(code).join(", ")}.`,
    "",
  ].join("\n");
}
