import { type AccountLanguage, languageOf } from '../accounts/index.js'

/** What the public page of past campaigns says beside them. */
interface ArchiveWords {
  title: (account: string) => string
  none: string
  older: string
  newest: string
  feed: string
}

const words: Record<AccountLanguage, ArchiveWords> = {
  en: {
    title: (account) => `Past emails of ${account}`,
    none: 'There is none yet.',
    older: 'Older',
    newest: 'Newest',
    feed: 'Follow them as a feed (RSS)',
  },
  fr: {
    title: (account) => `E-mails passés de ${account}`,
    none: 'Il n’y en a pas encore.',
    older: 'Plus anciens',
    newest: 'Les plus récents',
    feed: 'Les suivre par un flux (RSS)',
  },
  de: {
    title: (account) => `Frühere E-Mails von ${account}`,
    none: 'Es gibt noch keine.',
    older: 'Ältere',
    newest: 'Neueste',
    feed: 'Als Feed abonnieren (RSS)',
  },
  es: {
    title: (account) => `Correos anteriores de ${account}`,
    none: 'Todavía no hay ninguno.',
    older: 'Más antiguos',
    newest: 'Los más recientes',
    feed: 'Seguirlos por un canal (RSS)',
  },
  pt: {
    title: (account) => `E-mails anteriores de ${account}`,
    none: 'Ainda não há nenhum.',
    older: 'Mais antigos',
    newest: 'Os mais recentes',
    feed: 'Segui-los por um feed (RSS)',
  },
}

/** In the account's own language, as it is stored. */
export const archiveWords = (language: string | null): ArchiveWords & { language: string } =>
  Object.assign({ language: languageOf(language) }, words[languageOf(language)])
