/** Why mail waits, in words. */
export interface WaitReason {
  /** For the operator: names the file or the setting that says so. */
  readonly why: string
  /** For people of an account: without file and setting; undefined where `why` names none. */
  readonly plain?: string | undefined
}

/** A reason that comes from a file or a setting. */
export const reasonOf = (plain: string, setting: string): WaitReason => ({
  why: `${plain} (${setting})`,
  plain,
})
