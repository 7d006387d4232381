import { type AccountLanguage, languageCodes, languageFor, languageOf } from '../accounts/index.js'
import { type Page, standalonePage } from '../http/index.js'

/** What pages of past campaigns say beside them. */
interface ArchiveWords {
  title: (account: string) => string
  none: string
  older: string
  newest: string
  feed: string
  /** Pages in place of an email: the link is a sample, leads to no mail, or to one whose content is deleted. */
  onlyShown: Notice
  notHere: Notice
  tooOld: Notice
}

interface Notice {
  title: string
  text: string
}

const words: Record<AccountLanguage, ArchiveWords> = {
  en: {
    title: (account) => `Past emails of ${account}`,
    none: 'There is none yet.',
    older: 'Older',
    newest: 'Newest',
    feed: 'Follow them as a feed (RSS)',
    onlyShown: {
      title: 'This link is only for show',
      text: 'It stands in a copy of an email that is not the recipient’s own. In the email itself it leads to that email.',
    },
    notHere: {
      title: 'There is no email here',
      text: 'Perhaps the link was cut off: open it from the email again, or copy all of it. Or its sender does not show it any more.',
    },
    tooOld: {
      title: 'This email is no longer kept',
      text: 'Its content was deleted, as emails are after some time. The email in your inbox is not.',
    },
  },
  fr: {
    title: (account) => `E-mails passés de ${account}`,
    none: 'Il n’y en a pas encore.',
    older: 'Plus anciens',
    newest: 'Les plus récents',
    feed: 'Les suivre par un flux (RSS)',
    onlyShown: {
      title: 'Ce lien n’est qu’un exemple',
      text: 'Il figure dans une copie d’un e-mail qui n’est pas celle du destinataire. Dans l’e-mail lui-même, il mène à cet e-mail.',
    },
    notHere: {
      title: 'Il n’y a pas d’e-mail ici',
      text: 'Le lien a peut-être été coupé : ouvrez-le de nouveau depuis l’e-mail, ou copiez-le en entier. Ou bien son expéditeur ne le montre plus.',
    },
    tooOld: {
      title: 'Cet e-mail n’est plus conservé',
      text: 'Son contenu a été effacé, comme celui de tous les e-mails après quelque temps. Celui de votre boîte de réception ne l’est pas.',
    },
  },
  de: {
    title: (account) => `Frühere E-Mails von ${account}`,
    none: 'Es gibt noch keine.',
    older: 'Ältere',
    newest: 'Neueste',
    feed: 'Als Feed abonnieren (RSS)',
    onlyShown: {
      title: 'Dieser Link ist nur ein Beispiel',
      text: 'Er steht in einer Kopie einer E-Mail, die nicht die des Empfängers ist. In der E-Mail selbst führt er zu dieser E-Mail.',
    },
    notHere: {
      title: 'Hier ist keine E-Mail',
      text: 'Vielleicht wurde der Link abgeschnitten: Öffnen Sie ihn noch einmal aus der E-Mail, oder kopieren Sie ihn ganz. Oder der Absender zeigt sie nicht mehr.',
    },
    tooOld: {
      title: 'Diese E-Mail wird nicht mehr aufbewahrt',
      text: 'Ihr Inhalt wurde gelöscht, wie der aller E-Mails nach einiger Zeit. Die E-Mail in Ihrem Postfach ist noch da.',
    },
  },
  es: {
    title: (account) => `Correos anteriores de ${account}`,
    none: 'Todavía no hay ninguno.',
    older: 'Más antiguos',
    newest: 'Los más recientes',
    feed: 'Seguirlos por un canal (RSS)',
    onlyShown: {
      title: 'Este enlace es solo una muestra',
      text: 'Está en una copia de un correo que no es la del destinatario. En el correo mismo lleva a ese correo.',
    },
    notHere: {
      title: 'Aquí no hay ningún correo',
      text: 'Quizá el enlace se cortó: ábralo de nuevo desde el correo o cópielo entero. O su remitente ya no lo muestra.',
    },
    tooOld: {
      title: 'Este correo ya no se conserva',
      text: 'Su contenido se borró, como el de todos los correos pasado un tiempo. El correo de su bandeja de entrada sigue ahí.',
    },
  },
  pt: {
    title: (account) => `E-mails anteriores de ${account}`,
    none: 'Ainda não há nenhum.',
    older: 'Mais antigos',
    newest: 'Os mais recentes',
    feed: 'Segui-los por um feed (RSS)',
    onlyShown: {
      title: 'Este link é só um exemplo',
      text: 'Está numa cópia de um e-mail que não é a do destinatário. No próprio e-mail ele leva a esse e-mail.',
    },
    notHere: {
      title: 'Não há nenhum e-mail aqui',
      text: 'Talvez o link tenha sido cortado: abra-o de novo a partir do e-mail ou copie-o inteiro. Ou o remetente já não o mostra.',
    },
    tooOld: {
      title: 'Este e-mail já não é guardado',
      text: 'O conteúdo foi apagado, como o de todos os e-mails depois de algum tempo. O e-mail na sua caixa de entrada continua lá.',
    },
  },
}

/** The words in the account's own stored language. */
export const archiveWords = (language: string | null): ArchiveWords & { language: string } =>
  Object.assign({ language: languageOf(language) }, words[languageOf(language)])

/** A page in place of an email, in the browser's language: an address without a mail reveals nothing of an account. */
export function noEmail(
  status: number,
  which: 'onlyShown' | 'notHere' | 'tooOld',
  browser: string | undefined,
): Page {
  const language = languageFor({ browser, account: null, offered: languageCodes })
  const { title, text } = words[language][which]
  const { html, headers } = standalonePage(title, [text], { language })
  return { status, html, headers: Object.assign({}, headers, { 'X-Robots-Tag': 'noindex' }) }
}
