import type { GoShape } from "../shared-rules/go-print.ts";

/** SuccessPolicy, as shown in messages. */
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

/** PodFailurePolicy, as shown in messages. */
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

/** UncountedTerminatedPods, as shown in messages. */
export const UNCOUNTED_PODS: GoShape = [
  ["Succeeded", "succeeded"],
  ["Failed", "failed"],
];
