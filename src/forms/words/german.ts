import type { FormWords } from './words.js'

export const german: FormWords = {
  language: 'de',
  email: 'E-Mail-Adresse',
  firstName: 'Vorname',
  lastName: 'Nachname',
  topics: 'Was möchten Sie erhalten?',
  choose: 'Bitte wählen',
  optional: 'freiwillig',
  submit: 'Anmelden',
  missing: 'Bitte füllen Sie das aus.',
  noChoice: 'Wählen Sie eines davon:',
  noNumber: 'Das ist keine Zahl, etwa 12.',
  noDate: 'Das ist kein Datum, etwa 2026-12-24.',
  noAddress: 'Bitte schreiben Sie eine E-Mail-Adresse, etwa ada@example.com.',
  tooLong: 'Das ist zu lang.',
  consent: 'Ich möchte den Newsletter bekommen. Ich kann mich jederzeit abmelden.',
  agree: 'Bitte kreuzen Sie das an, um sich anzumelden.',
  working: 'Einen Moment: Ihr Browser prüft das Formular …',
  noScript:
    'Ohne JavaScript kann dieses Formular zurzeit nur wenige in der Stunde aufnehmen. Bitte erlauben Sie es für diese Seite, wenn Sie können.',
  check: {
    title: 'Bitte drücken Sie den Knopf',
    line: 'Das zeigt, dass ein Mensch dieses Formular abgeschickt hat.',
    again: 'Das war schneller, als Menschen sind. Bitte drücken Sie ihn noch einmal.',
    button: 'Ja, anmelden',
  },
  sent: {
    title: 'Noch ein Klick: Schauen Sie in Ihr Postfach',
    lines: [
      'Wenn alles stimmt, kommt eine E-Mail mit einem Link, meist in wenigen Minuten. Erst mit ihm sind Sie angemeldet.',
      'Nichts da? Bitte schauen Sie in den Spam-Ordner. Ist auch morgen nichts da, füllen Sie das Formular bitte noch einmal aus.',
    ],
  },
  confirm: {
    title: () => 'Noch ein Klick',
    line: (account) => `Drücken Sie den Knopf, um die E-Mails von ${account} zu erhalten.`,
    button: 'Bestätigen',
  },
  confirmed: {
    title: 'Sie sind angemeldet',
    line: (account) => `Danke. Sie erhalten ab jetzt die E-Mails von ${account}.`,
  },
  lapsed: {
    title: 'Sie erhalten zurzeit keine E-Mails',
    line: (account) =>
      `Diese Adresse ist bestätigt, doch sie bewirkt nichts mehr: Sie haben sich seither von ${account} abgemeldet, oder wofür Sie sich angemeldet hatten, gibt es nicht mehr.`,
    again: 'Das Formular noch einmal ausfüllen',
  },
  later: {
    title: 'Bitte versuchen Sie es später noch einmal',
    line: 'Die Anmeldung ging gerade nicht. Der Link bleibt gültig; bitte drücken Sie den Knopf später noch einmal.',
  },
  gone: {
    title: 'Dieser Link gilt nicht mehr',
    lines: [
      'Er wurde abgeschnitten oder ist älter als sieben Tage.',
      'Bitte füllen Sie das Formular noch einmal aus, wenn Sie die E-Mails erhalten möchten.',
    ],
  },
  closed: {
    title: 'Dieses Formular nimmt zurzeit niemanden auf',
    lines: [
      'Was hier ausgefüllt wird, wird zurzeit nicht gespeichert, und es kommt keine E-Mail.',
      'Bitte kommen Sie später wieder und füllen Sie es dann aus. Ein Link, den Sie schon per E-Mail erhalten haben, gilt weiter.',
    ],
  },
  noForm: {
    title: 'Dieses Formular gibt es hier nicht',
    lines: [
      'Seine Adresse ist unvollständig, oder das Formular wurde abgeschaltet.',
      'Bitte fragen Sie, wer Ihnen die Adresse gegeben hat, nach der richtigen.',
    ],
  },
  mail: {
    subject: (account) => `Bitte bestätigen: E-Mails von ${account}`,
    reminder: (account) => `Noch zu bestätigen: E-Mails von ${account}`,
    line: (account) =>
      `Jemand, hoffentlich Sie, hat diese Adresse für die E-Mails von ${account} angemeldet. Bitte bestätigen Sie, dass Sie es waren:`,
    button: 'Bestätigen',
    ignore: 'Das waren nicht Sie? Dann tun Sie nichts: Sie erhalten keine E-Mails.',
  },
}
