ip x s a src 10.0.0.1 dst 10.0.0.2 proto esp spi 1 mode t aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xf sa ad src 10.0.0.1 dst 10.0.0.2 proto esp spi 2 mode trans aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfr st u src 10.0.0.1 dst 10.0.0.2 proto esp spi 2 mode transport aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip x s l nokeys
ip x s s nokeys
ip x s sh nokeys
ip x s ls nokeys
ip x s list nokeys
ip x s g dst 10.0.0.2 proto esp spi 1
ip x s d dst 10.0.0.2 proto esp spi 1
ip x s c
ip x s deletea
ip x s dela
ip x s f
ip x p a dir in src 10.0.0.1
ip x p up dir in src 10.0.0.1 priority 5
ip x p s
ip x p l
ip x p
ip x po ge dir in src 10.0.0.1
ip x p d dir in src 10.0.0.1
ip x p c
ip x p setd in block
ip x p getd
ip x p setd in accept
ip x p f
ip x s q
ip x p q
ip x q
ip y s
ip x s add s 10.0.0.1 dst 10.0.0.2 proto esp spi 1 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip x s add src 10.0.0.1 dst 10.0.0.2 proto es spi 1 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip x p add dir o src 10.0.0.1
ip --stats x p l
ip -st x p l
ip -stati x p l
ip -oneline x p l
