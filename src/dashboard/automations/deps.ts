import type { AcceptDeps, PreviewDeps, TakeOuts } from '../../automations/index.js'

/** What the pages about automations need: what their routes by the API do. */
export type AutomationPageDeps = AcceptDeps & PreviewDeps & { takeOuts: TakeOuts }
