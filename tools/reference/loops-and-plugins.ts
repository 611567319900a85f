import { PLUGIN_TABLE, UNAVAILABLE_PLUGINS } from "../../src/access/admission/plugins/plugin-table.ts";
import { ABSENT_CONTROLLERS } from "../../src/cluster/controllers/manager/absent-controllers.ts";
import { RUNNABLE_CONTROLLERS } from "../../src/cluster/controllers/manager/all.ts";
import { DEFAULT_CONTROLLERS } from "../../src/cluster/controllers/manager/default-controllers.ts";
import {
  MANAGER_CONTROLLERS,
  type ManagerController,
} from "../../src/cluster/controllers/manager/manager-controllers.ts";
import { code, head, table } from "./markdown.ts";

/** The text of docs/reference/controllers.md. */
export function controllersPage(): string {
  const own = new Set(RUNNABLE_CONTROLLERS.map(({ name }) => name));
  const defaults = new Set(DEFAULT_CONTROLLERS.split(","));
  const isOwn = ({ name }: ManagerController) => own.has(name);
  const row = ({ name, does, without = "" }: ManagerController) => [code(name), does, without];
  const optional = new Set(RUNNABLE_CONTROLLERS.filter(({ isOptional }) => isOptional).map(({ name }) => name));
  const runs = (name: string) => (defaults.has(name) ? "by default" : optional.has(name) ? "if named" : "with `*`");
  const ownRows = MANAGER_CONTROLLERS.filter(isOwn).map((one) => [...row(one), runs(one.name)]);
  const reason = ({ name }: ManagerController) => ABSENT_CONTROLLERS[name] ?? "";
  const columns = ["controller", "what it does", "without it", "why it is not built in"];
  return [
    head(
      "Controllers",
      "The loops of kube-controller-manager 1.37, as `binnacle controllers` lists them. What every kube-apiserver does by itself, such as keeping the Service `kubernetes` and the system roles, always happens.",
    ),
    "## Inside of the server",
    "",
    "`--controllers` picks among them: `*`, `none`, or names; `-NAME` leaves one out. By default, those run that the API itself needs. As in kube-controller-manager, `*` leaves some out that run only if they are named.",
    "",
    table(["controller", "what it does", "without it", "runs"], ownRows),
    "## Simulated storage",
    "",
    "Volumes of a StorageClass with the provisioner `simulated.binnacle.dev` exist only as objects. With the controllers `persistentvolume-binder-controller` and `persistentvolume-expander-controller`, claims of the class are bound at once, can grow, and take their volumes with them when they are deleted. Without such a class, nothing is simulated.",
    "",
    "```yaml",
    "apiVersion: storage.k8s.io/v1",
    "kind: StorageClass",
    "metadata:",
    "  name: simulated",
    '  annotations: { storageclass.kubernetes.io/is-default-class: "true" }',
    "provisioner: simulated.binnacle.dev",
    "allowVolumeExpansion: true",
    "```",
    "",
    "No controller touches files: a recycled volume is available again without a recycler Pod, and deleting a `hostPath` volume below /tmp deletes only the object.",
    "",
    "## Beside the real kube-controller-manager",
    "",
    "With the default controllers, Binnacle and a real kube-controller-manager can run at the same time: both do the same work, and doing it twice is harmless. `--controllers none` avoids the double work.",
    "",
    "With any other controller, all selected controllers run only while Binnacle holds the Lease `kube-controller-manager` in kube-system, with which the real program elects its leader too. So only one of them works at a time. The other one waits, and takes over when the holder stops, or 15 seconds after it crashed. A log line of Binnacle names the holder for which it waits. Of several Binnacle servers on one etcd, one holds the Lease. To let both work, give each its own controllers, and start the real program with `--leader-elect=false`:",
    "",
    "```sh",
    "binnacle serve --controllers deployment-controller,replicaset-controller",
    "kube-controller-manager --leader-elect=false --controllers '*,-deployment-controller,-replicaset-controller' --kubeconfig ...",
    "```",
    "",
    "Control planes of the testing library do not use the Lease: no other program reaches their store.",
    "",
    "## Only where the real kube-controller-manager runs beside it",
    "",
    "Start it with the kubeconfig that Binnacle writes, and Binnacle with `--controllers none`.",
    "",
    table(
      columns,
      MANAGER_CONTROLLERS.filter((one) => !isOwn(one)).map((one) => [...row(one), reason(one)]),
    ),
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
