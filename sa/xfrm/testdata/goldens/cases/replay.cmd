# Windows, extended sequence numbers, and numbers to start from.
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x201 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x202 replay-window 1 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x203 replay-window 32 replay-seq 100 replay-oseq 0x2000 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x204 replay-window 33 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x205 replay-window 128 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x206 replay-window 128 flag esn aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x207 replay-window 32 flag esn replay-seq 0xfffffffd replay-seq-hi 5 replay-oseq 0xfffffffe replay-oseq-hi 2 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x208 replay-window 4096 flag esn aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x209 replay-window 100 replay-seq 7 replay-oseq 9 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state list nokeys
ip -s xfrm state list nokeys
ip -o xfrm state list nokeys
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x20a flag esn aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x20b replay-window 4097 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state count
