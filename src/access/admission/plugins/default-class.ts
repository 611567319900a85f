import { isObject, type KubeObject } from "../../../base/api/object.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { targets } from "../matches.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import { BETA_STORAGE_CLASS } from "./storage-class-name.ts";

interface ClassChoice {
  readonly name: string;
  /** The kind that gets a class, and how it names one. */
  readonly group: string;
  readonly plural: string;
  readonly hasClass: (object: KubeObject) => boolean;
  readonly setClass: (object: KubeObject, className: string) => void;
  /** The kind of class, and the annotations that mark the default. */
  readonly classGroup: string;
  readonly classPlural: string;
  readonly annotations: readonly string[];
}

/**
 * Sets the default class of new objects that name none. Of several defaults the newest wins, then the first by name.
 */
function defaultClass(choice: ClassChoice, access: ObjectAccess): AdmissionPlugin {
  return {
    name: choice.name,
    handles: (request) => request.operation === "CREATE" && targets(request, choice.group, choice.plural),
    async mutate({ object }) {
      if (!object || choice.hasClass(object)) return;
      const classes = await access.list(choice.classGroup, choice.classPlural, "", "any");
      const defaults = classes.filter(({ metadata }) =>
        choice.annotations.some((key) => metadata.annotations?.[key] === "true"),
      );
      const [chosen] = defaults.sort(newestFirst);
      if (chosen?.metadata.name !== undefined) choice.setClass(object, chosen.metadata.name);
    },
  };
}

function newestFirst({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const byTime = (b.creationTimestamp ?? "").localeCompare(a.creationTimestamp ?? "");
  return byTime !== 0 ? byTime : (a.name ?? "").localeCompare(b.name ?? "");
}

function spec(object: KubeObject) {
  if (!isObject(object.spec)) object.spec = {};
  return object.spec;
}

const INGRESS_CLASS = "kubernetes.io/ingress.class";

/** DefaultStorageClass: PersistentVolumeClaims without storageClassName get the default StorageClass. */
export function defaultStorageClass(access: ObjectAccess): AdmissionPlugin {
  return defaultClass(
    {
      name: "DefaultStorageClass",
      group: "",
      plural: "persistentvolumeclaims",
      // An empty name explicitly selects no class.
      hasClass: (claim) =>
        spec(claim).storageClassName !== undefined || claim.metadata.annotations?.[BETA_STORAGE_CLASS] !== undefined,
      setClass: (claim, name) => {
        spec(claim).storageClassName = name;
      },
      classGroup: "storage.k8s.io",
      classPlural: "storageclasses",
      annotations: ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"],
    },
    access,
  );
}

/** DefaultIngressClass: Ingresses without ingressClassName get the default IngressClass. */
export function defaultIngressClass(access: ObjectAccess): AdmissionPlugin {
  return defaultClass(
    {
      name: "DefaultIngressClass",
      group: "networking.k8s.io",
      plural: "ingresses",
      hasClass: (ingress) =>
        spec(ingress).ingressClassName !== undefined || ingress.metadata.annotations?.[INGRESS_CLASS] !== undefined,
      setClass: (ingress, name) => {
        spec(ingress).ingressClassName = name;
      },
      classGroup: "networking.k8s.io",
      classPlural: "ingressclasses",
      annotations: ["ingressclass.kubernetes.io/is-default-class"],
    },
    access,
  );
}
