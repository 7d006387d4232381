/** A switch of tracking in the words of API, pages and commands; `default`: as what stands above it has it. */
export const switchChoices = ['on', 'off', 'default'] as const
/** One of them. */
export type SwitchChoice = (typeof switchChoices)[number]

const flags = { on: true, off: false, default: null } as const

/** As it is stored; null: neither on nor off. */
export const flagOf = (choice: SwitchChoice): boolean | null => flags[choice]

/** A stored one in words. */
export const choiceOf = (flag: boolean | null): SwitchChoice =>
  flag === null ? 'default' : flag ? 'on' : 'off'
