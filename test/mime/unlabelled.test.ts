// Text whose charset nobody says: replies of servers all over the world.
import t from 'tap'
import { decodeUnlabelled } from '../../src/mime/index.js'

const texts: readonly (readonly [charset: string, text: string, bytes: string])[] = [
  ['iso8859-2', 'Nieznany użytkownik', '4e69657a6e616e792075bf79746b6f776e696b'],
  [
    'iso8859-2',
    'Użytkownik nie istnieje, skrzynka pełna',
    '55bf79746b6f776e696b206e6965206973746e69656a652c20736b727a796e6b61207065b36e61',
  ],
  ['cp1250', 'Nieznany użytkownik', '4e69657a6e616e792075bf79746b6f776e696b'],
  [
    'iso8859-2',
    'Uživatel neexistuje: příjemce nenalezen',
    '55be69766174656c206e656578697374756a653a2070f8ed6a656d6365206e656e616c657a656e',
  ],
  ['iso8859-7', 'Άγνωστος χρήστης', 'b6e3edf9f3f4eff220f7f1def3f4e7f2'],
  ['cp1253', 'Ο χρήστης δεν υπάρχει', 'cf20f7f1def3f4e7f220e4e5ed20f5f0dcf1f7e5e9'],
  ['iso2022-jp', '宛先が見つかりません', '1b244230384068242c382b2444242b246a245e243b24731b2842'],
  ['gbk', '收件人不存在', 'cad5bcfec8cbb2bbb4e6d4da'],
  ['gbk', '用户不存在', 'd3c3bba7b2bbb4e6d4da'],
  ['gbk', '邮箱不存在', 'd3cacfe4b2bbb4e6d4da'],
  ['gbk', '邮箱已满', 'd3cacfe4d2d1c2fa'],
  ['gbk', '拒绝接收垃圾邮件', 'bedcbef8bdd3cad5c0acbbf8d3cabcfe'],
  ['gbk', '收件人邮箱空间不足', 'cad5bcfec8cbd3cacfe4bfd5bce4b2bbd7e3'],
  ['gbk', '无此用户', 'cedeb4cbd3c3bba7'],
  ['gbk', '查无此人', 'b2e9cedeb4cbc8cb'],
  ['gbk', '发送频率过高，请稍后再试', 'b7a2cbcdc6b5c2cab9fdb8dfa3acc7ebc9d4baf3d4d9cad4'],
  ['gbk', '帐号已被禁用', 'd5cabac5d2d1b1bbbdfbd3c3'],
  ['gbk', '该用户不存在', 'b8c3d3c3bba7b2bbb4e6d4da'],
  ['cp1251', 'Пользователь не найден', 'cfeeebfce7eee2e0f2e5ebfc20ede520ede0e9e4e5ed'],
  ['cp1251', 'Нет такого пользователя', 'cde5f220f2e0eaeee3ee20efeeebfce7eee2e0f2e5ebff'],
  ['cp1251', 'Почтовый ящик переполнен', 'cfeef7f2eee2fbe920fff9e8ea20efe5f0e5efeeebede5ed'],
  ['cp1251', 'ПОЛЬЗОВАТЕЛЬ НЕ НАЙДЕН', 'cfcecbdcc7cec2c0d2c5cbdc20cdc520cdc0c9c4c5cd'],
  ['cp1251', 'Неизвестный адрес', 'cde5e8e7e2e5f1f2edfbe920e0e4f0e5f1'],
  [
    'cp1251',
    'Сообщение отклонено как спам',
    'd1eeeee1f9e5ede8e520eef2eaebeeede5edee20eae0ea20f1efe0ec',
  ],
  ['cp1251', 'адрес не существует', 'e0e4f0e5f120ede520f1f3f9e5f1f2e2f3e5f2'],
  ['cp1251', 'нет', 'ede5f2'],
  ['koi8-r', 'Пользователь не найден', 'f0cfccd8dacfd7c1d4c5ccd820cec520cec1cac4c5ce'],
  ['koi8-r', 'Нет такого пользователя', 'eec5d420d4c1cbcfc7cf20d0cfccd8dacfd7c1d4c5ccd1'],
  ['koi8-r', 'Почтовый ящик переполнен', 'f0cfded4cfd7d9ca20d1ddc9cb20d0c5d2c5d0cfcccec5ce'],
  ['koi8-r', 'ПОЛЬЗОВАТЕЛЬ НЕ НАЙДЕН', 'f0efecf8faeff7e1f4e5ecf820eee520eee1eae4e5ee'],
  ['koi8-r', 'Неизвестный адрес', 'eec5c9dad7c5d3d4ced9ca20c1c4d2c5d3'],
  [
    'koi8-r',
    'Сообщение отклонено как спам',
    'f3cfcfc2ddc5cec9c520cfd4cbcccfcec5cecf20cbc1cb20d3d0c1cd',
  ],
  ['koi8-r', 'адрес не существует', 'c1c4d2c5d320cec520d3d5ddc5d3d4d7d5c5d4'],
  ['big5', '收件人不存在', 'a6aca5f3a448a4a3a673a662'],
  ['big5', '使用者不存在', 'a8cfa5ceaacca4a3a673a662'],
  ['big5', '無此使用者', 'b54ca6b9a8cfa5ceaacc'],
  ['big5', '信箱已滿', 'ab48bd63a477baa1'],
  ['big5', '查無此人', 'ac64b54ca6b9a448'],
  ['big5', '找不到收件人', 'a7e4a4a3a8eca6aca5f3a448'],
  ['big5', '郵件被拒絕', 'b66ca5f3b351a9dab5b4'],
  ['big5', '帳號不存在', 'b162b8b9a4a3a673a662'],
  ['shift_jis', 'ユーザーが存在しません', '8386815b8355815b82aa91b68ddd82b582dc82b982f1'],
  ['shift_jis', '宛先不明', '88b690e6957396be'],
  [
    'shift_jis',
    'メールボックスがいっぱいです',
    '8381815b838b837b8362834e835882aa82a282c182cf82a282c582b7',
  ],
  ['shift_jis', '受信拒否されました', '8ef3904d8b9194db82b382ea82dc82b582bd'],
  [
    'shift_jis',
    '宛先のメールアドレスが見つかりません',
    '88b690e682cc8381815b838b83418368838c835882aa8ca982c282a982e882dc82b982f1',
  ],
  [
    'shift_jis',
    'そのユーザーは存在しません',
    '82bb82cc8386815b8355815b82cd91b68ddd82b582dc82b982f1',
  ],
  ['euc_jp', 'ユーザーが存在しません', 'a5e6a1bca5b6a1bca4acc2b8badfa4b7a4dea4bba4f3'],
  ['euc_jp', '宛先が見つかりません', 'b0b8c0e8a4acb8aba4c4a4aba4eaa4dea4bba4f3'],
  ['euc_kr', '사용자를 찾을 수 없습니다', 'bbe7bfebc0dab8a620c3a3c0bb20bcf620bef8bdc0b4cfb4d9'],
  ['euc_kr', '존재하지 않는 사용자입니다', 'c1b8c0e7c7cfc1f620becab4c220bbe7bfebc0dac0d4b4cfb4d9'],
  ['euc_kr', '수신자가 존재하지 않습니다', 'bcf6bdc5c0dab0a120c1b8c0e7c7cfc1f620becabdc0b4cfb4d9'],
  ['euc_kr', '메일함 용량 초과', 'b8dec0cfc7d420bfebb7ae20c3cab0fa'],
  ['cp1252', 'Empfänger existiert nicht', '456d7066e46e67657220657869737469657274206e69636874'],
  ['cp1252', 'Boîte aux lettres pleine', '426fee746520617578206c65747472657320706c65696e65'],
  ['cp1252', 'buzón no encontrado', '62757af36e206e6f20656e636f6e747261646f'],
  ['cp1252', 'usuário não existe', '757375e172696f206ee36f20657869737465'],
  [
    'cp1252',
    'Ungültige Adresse für Empfänger',
    '556e67fc6c7469676520416472657373652066fc7220456d7066e46e676572',
  ],
  ['cp1252', 'L’adresse n’existe pas', '4c9261647265737365206e9265786973746520706173'],
  ['cp1252', 'indirizzo è sconosciuto', '696e646972697a7a6f20e82073636f6e6f73636975746f'],
  ['cp1252', 'Användaren hittades inte', '416e76e46e646172656e20686974746164657320696e7465'],
  ['cp1252', "à l'adresse indiquée: été", 'e0206c276164726573736520696e64697175e9653a20e974e9'],
]

t.test('the charset is the one in which the bytes are plain words', async (t) => {
  for (const [charset, text, bytes] of texts) {
    t.equal(decodeUnlabelled(Buffer.from(bytes, 'hex')), text, charset)
    const reply = Buffer.concat([Buffer.from('5.1.1 <a@b.test>: '), Buffer.from(bytes, 'hex')])
    t.equal(decodeUnlabelled(reply), `5.1.1 <a@b.test>: ${text}`, `${charset} behind ASCII`)
    t.equal(decodeUnlabelled(Buffer.from(text)), text, 'UTF-8 is never taken for another one')
  }
})

t.test('what is plain in none keeps every byte', async (t) => {
  const noise = Buffer.from([0xff, 0x20, 0xfe, 0x81, 0x20, 0xd7])
  t.equal(decodeUnlabelled(noise).length, noise.length)
  t.equal(decodeUnlabelled(Buffer.alloc(0)), '')
})
