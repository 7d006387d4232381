import { languageCodes, languageFor } from '../accounts/index.js'
import { compiledView, type Page, type PageRequest } from '../http/index.js'
import { stringsIn } from './languages.js'
import { shownToken } from './link.js'

/** The question why they left, which they may answer. */
export interface ReasonView {
  legend: string
  choices: readonly { value: string; label: string }[]
  words: string
  button: string
}

/** A page of a heading, a few sentences, at most one button and one link. */
export interface NoticeView {
  language: string
  title: string
  /** The address of the account's logo. */
  logo?: string | undefined
  /** The address of its colours; undefined: the default ones. */
  colours?: string | undefined
  lines: readonly string[]
  /** Posts `action` to the page's own address. */
  form?: { action: 'unsubscribe' | 'resubscribe'; button: string; quiet: boolean } | undefined
  link?: { href: string; text: string } | undefined
  reason?: ReasonView | undefined
  /** The result of the last button. */
  message?: string | undefined
}

/** The preference centre. */
export interface CentreView {
  language: string
  title: string
  /** The address of the logo. */
  logo: string | undefined
  /** The address of the colours. */
  colours: string | undefined
  /** The result of the last button. */
  message: string | undefined
  lines: readonly string[]
  left: boolean
  topics: readonly { id: string; name: string; description: string; chosen: boolean }[]
  legend: string
  save: string
  /** The other parts of the list of topics, where it is longer than a page. */
  parts: { line: string; links: readonly { href: string; text: string; rel: string }[] } | undefined
  reason: ReasonView | undefined
  /** The fields that they may change; undefined: none. */
  fields:
    | {
        title: string
        line: string
        none: string
        save: string
        rows: readonly {
          name: string
          wasName: string
          label: string
          type: 'text' | 'date' | 'choice' | 'number'
          value: string
          was: string
          choices: readonly string[]
          autocomplete: string | undefined
          fault: string | undefined
        }[]
      }
    | undefined
  everything: { action: 'leave' | 'return'; title: string; line: string; button: string }
}

/** The address of the logo at the head of an account's pages. */
export const logoOf = ({ logoId }: { logoId: string | null }): string | undefined =>
  logoId === null ? undefined : `/logo/${logoId}`

export const renderNotice = compiledView<NoticeView>('preferences/views/notice')
export const renderCentre = compiledView<CentreView>('preferences/views/centre')

/** A page that no search engine may list: its address names a recipient. */
export const page = (html: string, status = 200): Page => ({
  status,
  html,
  headers: { 'X-Robots-Tag': 'noindex' },
})

/**
 * The page for every link that does not act, in the browser's language. It is the same whatever is wrong with the link,
 * except for links that are only shown.
 */
export function deadLink({
  params: { token },
  header,
}: Pick<PageRequest, 'params' | 'header'>): Page {
  const browser = header('accept-language')
  const strings = stringsIn(languageFor({ browser, account: null, offered: languageCodes }))
  const says = token === shownToken ? strings.shown : strings.unknown
  return page(renderNotice({ language: strings.language, ...says }), 404)
}
