import type { GoShape } from "../rules/go-print.ts";

/** SuccessPolicy, as messages show it. */
export const SUCCESS_POLICY: GoShape = [
  [
    "Rules",
    "rules",
    null,
    [
      ["SucceededIndexes", "succeededIndexes"],
      ["SucceededCount", "succeededCount"],
    ],
  ],
];

/** PodFailurePolicy, as messages show it. */
export const POD_FAILURE_POLICY: GoShape = [
  [
    "Rules",
    "rules",
    null,
    [
      ["Action", "action", ""],
      [
        "OnExitCodes",
        "onExitCodes",
        null,
        [
          ["ContainerName", "containerName"],
          ["Operator", "operator", ""],
          ["Values", "values"],
        ],
      ],
      [
        "OnPodConditions",
        "onPodConditions",
        null,
        [
          ["Type", "type", ""],
          ["Status", "status", ""],
        ],
      ],
    ],
  ],
];

/** UncountedTerminatedPods, as messages show it. */
export const UNCOUNTED_PODS: GoShape = [
  ["Succeeded", "succeeded"],
  ["Failed", "failed"],
];
