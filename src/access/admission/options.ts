import { type ConfigOf, flagOnly, group, libraryOption, option } from "../../base/options/option.ts";
import { boolean, file, isRecord, list, programValue, reject } from "../../base/options/value-types.ts";
import type { AdmissionModule } from "./functions/module.ts";

const isFunction = (value: unknown) => typeof value === "function";

const modules = programValue<readonly AdmissionModule[]>(
  "AdmissionModule[]",
  "a list of objects with the functions mutate or validate, and optionally rules",
  (value) =>
    Array.isArray(value) &&
    value.every(
      (one) =>
        isRecord(one) &&
        [one.mutate, one.validate].some(isFunction) &&
        [one.mutate, one.validate].every((called) => called === undefined || isFunction(called)) &&
        (one.rules === undefined || Array.isArray(one.rules)),
    ),
);

/** Options about admission. */
export const admissionOptions = {
  admissionPlugins: group({
    enabled: option(
      "enable-admission-plugins",
      list("names"),
      "admission plugins to enable in addition to the default ones",
      { default: [] },
    ),
    disabled: option("disable-admission-plugins", list("names"), "default admission plugins to disable", {
      default: [],
    }),
  }),
  admission: group({
    configFile: option(
      "admission-control-config-file",
      file(),
      "AdmissionConfiguration: credentials for webhooks, and webhooks and policies from files",
    ),
    functionFiles: option(
      "admission",
      list("files", "anything"),
      "TypeScript or JavaScript modules whose functions change or deny writes, called in this order",
      { default: [] },
    ),
    functions: libraryOption(
      modules,
      "functions of this program that change or deny writes; they run before those of files",
      { default: [] },
    ),
  }),
  allowPrivileged: flagOnly(
    "allow-privileged",
    {
      ...boolean,
      parse: (given) =>
        boolean.parse?.(given) ||
        reject("expected true; to deny privileged containers, label the namespace for Pod Security"),
    },
    "no effect: privileged containers are always allowed, and false is rejected; Pod Security labels of namespaces deny them",
  ),
};

/** Admission besides the plugins. */
export type AdmissionConfig = ConfigOf<typeof admissionOptions>["admission"];
