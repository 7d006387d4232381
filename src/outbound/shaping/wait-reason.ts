/** Why mail waits, in words. */
export interface WaitReason {
  /** With the file or the setting that says so, for the operator. */
  readonly why: string
  /** Without it, for people of an account, who have neither; undefined where `why` names none. */
  readonly plain?: string | undefined
}

/** A reason that a file or a setting is behind. */
export const reasonOf = (plain: string, setting: string): WaitReason => ({
  why: `${plain} (${setting})`,
  plain,
})
