# A word of iproute2 6.10 and later.
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x801 dir out aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.2 dst 10.0.0.1 proto esp spi 0x802 dir in replay-window 32 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.2 dst 10.0.0.1 proto esp spi 0x803 dir in replay-window 64 flag esn aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x804 dir out flag esn aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x805 dir out replay-window 32 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x806 dir fwd aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state list nokeys
ip -s xfrm state list nokeys
