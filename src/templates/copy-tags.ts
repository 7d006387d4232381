import type { Rendered } from './job.js'

/**
 * Merge tags of marketing mail that are filled in for each recipient when their copy leaves. Until then a character
 * for private use (Unicode, plane 15), which no HTML uses, holds the place of each.
 */
export const copyTags = {
  unsubscribe_url: '\u{F0002}',
  preferences_url: '\u{F0003}',
  unsubscribe_footer: '\u{F0004}',
  postal_address: '\u{F0005}',
  /** Only in campaigns with `archive`; elsewhere it is empty. */
  view_url: '\u{F0006}',
} as const

const places = /[\u{F0002}-\u{F0006}]/gu
const nameAt = new Map(Object.entries(copyTags).map(([name, place]) => [place as string, name]))

/** Whether a variable has such a name. */
export const isCopyTag = (name: string): boolean => Object.hasOwn(copyTags, name)

/** Where there are no links, as in a subject, these tags are empty. */
export const withoutCopyTags = (text: string): string => text.replace(places, '')

/** The places as tags again, for a mail that is shown and is nobody's copy. */
export const asTags = (text: string): string =>
  text.replace(places, (place) => `{{ ${nameAt.get(place)} }}`)

/** Removes the tags that `asTags` has shown. */
export const withoutShownTags = (text: string): string => text.replace(shownTags, '')

const shownTags = new RegExp(`\\{\\{ (?:${Object.keys(copyTags).join('|')}) \\}\\}`, 'g')

/** A preview, which shows them as tags. */
export const previewed = ({ subject, html, text }: Rendered): Rendered => ({
  subject,
  html: asTags(html),
  text: text === null ? null : asTags(text),
})
