ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x401 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 limit byte-soft 1000000 limit byte-hard 2000000 limit packet-soft 0x1000 limit packet-hard 010000 limit time-soft 3600 limit time-hard 7200 limit time-use-soft 1800 limit time-use-hard 3601
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x402 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 limit byte-hard 18446744073709551615 limit packet-hard 18446744073709551614
ip xfrm policy add dir out src 10.0.0.1 dst 10.0.0.2 limit time-hard 86400 limit byte-soft 12345 tmpl proto esp mode transport reqid 4
ip xfrm state list nokeys
ip -s xfrm state list nokeys
ip xfrm policy list
ip -s xfrm policy list
