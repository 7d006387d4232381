import type { Block } from '../../blocks/index.js'
import type { Rule } from '../../rules/index.js'
import type { AutomationDefinition, StepDefinition } from '../definition/index.js'

/** A mail of a recipe, and the name of its template where that name is free. */
export interface RecipeMail {
  slug: string
  subject: string
  blocks: readonly Block[]
  /** What its author is told to write; absent where its words can be sent as they are. */
  asks?: string
}

/** What an account says of its automation before there are steps. */
export interface RecipeGiven {
  /** The sender of its mails. */
  from: string
  /** The list that begins it; any list, if it is not given. */
  listId?: string | undefined
  /** The segment that the recipe asks for. */
  segmentId?: string | undefined
  /** The field of contacts whose day begins it, by its name. */
  dateField?: string | undefined
}

/** An automation to begin with. */
export interface Recipe {
  /** The recipe's name, as a form sends it. */
  name: string
  title: string
  about: string
  mails: readonly RecipeMail[]
  /** Whoever joins a list begins it. */
  isForList?: true
  /** The segment that begins it, which is made where the account has none of that name. */
  segment?: { name: string; rule: Rule }
  /** The field whose day begins it, which is described where the account has none of that name. */
  dateField?: { name: string; label: string }
  definition(given: RecipeGiven): AutomationDefinition
}

/** Where the buttons of recipes lead before somebody says where (RFC 2606 §3). */
export const recipeLink = 'https://example.com/'

const hello = 'Hello {{ firstName | default: "there" }},'

/** A mail with a few sentences and a button, in the account's own colours. */
export const shortMail = (
  slug: string,
  subject: string,
  { says, button, isWhole = false }: { says: string; button?: string; isWhole?: boolean },
): RecipeMail => ({
  slug,
  subject,
  ...(!isWhole && { asks: says }),
  blocks: [
    { type: 'text', text: `${hello}\n\n${says}` },
    ...(button === undefined ? [] : [{ type: 'button' as const, text: button, url: recipeLink }]),
    { type: 'footer', text: 'You get this because you have asked us for mail.' },
  ],
})

/** A step that sends a mail of the recipe. */
export const sends = (
  { slug, subject }: RecipeMail,
  from: string,
  name: string,
): StepDefinition => ({
  key: slug,
  type: 'send_email',
  name: name || subject,
  config: { template: slug, from },
})

/** A chain of steps, each leading to the next. */
export const chain = (...keys: string[]): AutomationDefinition['connections'] =>
  keys.slice(1).map((to, at) => ({ from: keys[at] ?? '', to, type: 'default' }))
